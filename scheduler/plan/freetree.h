/* SPDX-License-Identifier: Apache-2.0 */
/* freetree.h - which machines can hold an ask, found without looking at all of them.
 *
 * A binary tree over the machines in list order. Each node has the most that any machine below it has free of each resource,
 * and the groups that are below it; a branch where one of them is too little is not entered. At a leaf that is exact: a
 * machine holds an ask if it has the processors, the memory, a device with so many thousandths or so many whole devices.
 * Finding the next machine costs the branches that promise more than their machines keep, a change costs the tree's height.
 * Memory of its own, about 120 bytes a machine. Not thread-safe. */
#pragma once
#include <stddef.h>
#include "scheduler/plan/resource.h"

#define FREETREE_NONE UINT32_MAX

struct freetree;

struct freetree *freetree_new(void);
void freetree_free(struct freetree *t);         /* NULL is fine */
/* What the machine has free now. Machines are numbered from 0; the next new one has the number of those before it. */
void freetree_set(struct freetree *t, uint32_t machine, const struct room *free);
/* The first machine from that number on that can hold the ask; FREETREE_NONE: there is none. */
uint32_t freetree_next(const struct freetree *t, const struct ask *a, uint32_t from);
