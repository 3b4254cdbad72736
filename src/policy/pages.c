/* SPDX-License-Identifier: Apache-2.0 */
/* Policies that only say which page goes when another comes, on a device as in RAM: they own no run. */
#include "policy/policy.h"

#define PAGES(NAME, KEY, SUMMARY) { .public = { .name = NAME, .summary = SUMMARY }, .device = KEY, .before = KEY, .cpu = KEY }

const struct policy policy_auto = PAGES("auto", residency_auto, "what the pass does not need goes first, the oldest first; then what it has used");
const struct policy policy_fifo = PAGES("fifo", residency_fifo, "the oldest page goes first");
const struct policy policy_lru = PAGES("lru", residency_lru, "the page goes first that was not used for longest");
const struct policy policy_frequency = PAGES("frequency", residency_frequency, "the page goes first that the fewest passes used");
const struct policy policy_pinned = PAGES("pinned", residency_pinned, "pages with long lists stay, the one with the shortest goes first");
