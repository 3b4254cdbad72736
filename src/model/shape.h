/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of a graph, from a sample: its degrees, and the beginning of a breadth-first
 * search over a few tens of pages.
 */
#ifndef MODEL_SHAPE_H
#define MODEL_SHAPE_H

#include "model/machine.h"

/* Measures the shape and sets the fields of SHAPE_FIELDS and shape_known. */
mill_err shape_measure(struct machine *m, const struct store *st, struct budget *budget);

#endif
