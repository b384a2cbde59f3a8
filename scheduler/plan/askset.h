/* SPDX-License-Identifier: Apache-2.0 */
/* askset.h - different asks, each once, numbered from 0 in the order of their first coming.
 * Memory of its own; nothing is ever removed. */
#pragma once
#include <stddef.h>
#include "scheduler/plan/resource.h"

#define ASK_NONE UINT32_MAX

struct askset { struct ask *asks; uint32_t *index; size_t n, cap; };

/* The number of an equal ask; added if it is new and there are fewer than max, else ASK_NONE. */
uint32_t askset_find(struct askset *s, const struct ask *a, size_t max);
void askset_release(struct askset *s);

/* An array with room for n items of that size: p grown (what is new is not zeroed). Aborts without memory. */
void *list_alloc(void *p, size_t n, size_t size);
/* An index of n places, all free (0); p is given up. */
uint32_t *index_alloc(uint32_t *p, size_t n);
