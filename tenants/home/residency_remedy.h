/* SPDX-License-Identifier: Apache-2.0 */
/* residency_remedy.h - what is missing where the judge refuses, which call sets it, and who may ask for it and approve it.
 *
 * The rows are residency_remedy.def; who may is read from the roles (permissions.def). It says what could be done, not that it
 * should be.
 * Memory: the arena, and the texts of whoever asks. */
#pragma once
#include "core/base/arena.h"
#include "tenants/home/residency.h"

struct residency_remedy {
    struct str rule, missing, operation;
    struct slice roles;                 /* struct str: who may ask for it */
    struct slice approved_by;           /* struct str: who approves it; none: nobody needs to */
    struct str approved_in;             /* "tenant" | "platform": whose people these are */
    struct str data_class, zone, from;
};
extern const struct schema residency_remedy_schema;

/* false: nothing can be set so that it would be allowed. data_class, zone, from: what was asked about; STR_NULL: not known. */
bool residency_remedy_of(struct arena *a, struct str rule, struct str data_class, struct str zone, struct str from,
                         struct residency_remedy *ret);
