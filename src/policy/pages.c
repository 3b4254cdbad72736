/* SPDX-License-Identifier: Apache-2.0 */
/* Policies that only say which page is evicted first, on a device and in RAM. They own no run. */
#include "policy/policy.h"

#define PAGES(NAME, KEY, SUMMARY) \
	{ .public = { .name = NAME, .summary = SUMMARY }, .device = KEY, .before = KEY, .cpu = KEY }

const struct policy policy_auto = PAGES("auto", residency_auto,
	"evicts pages that the pass does not need, oldest first; then pages that it has used");
const struct policy policy_fifo = PAGES("fifo", residency_fifo, "evicts the oldest page");
const struct policy policy_lru = PAGES("lru", residency_lru,
	"evicts the page that was not used for the longest time");
const struct policy policy_frequency = PAGES("frequency", residency_frequency,
	"evicts the page that the fewest passes used");
const struct policy policy_pinned = PAGES("pinned", residency_pinned,
	"keeps pages with long lists: evicts the page with the shortest");
