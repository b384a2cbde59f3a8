/* SPDX-License-Identifier: Apache-2.0 */
/* heads_kit.h - a zone's key, a stranger's, and a tenant, for the tests of heads: a group's setup and teardown. */
#pragma once
#include "tests/unit/audit/fixture.h"

static struct key *k, *other;
static struct uuid tenant;
static struct head_keys keys;

static inline int setup(void **state)
{
    (void)state;
    k = key_make();
    other = key_make();
    tenant = uuid_v7(9);
    keys = (struct head_keys){ (const uint8_t(*)[AUDIT_PUB])k->pub, 1 };
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    key_free(k);
    key_free(other);
    return 0;
}
