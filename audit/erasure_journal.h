/* SPDX-License-Identifier: Apache-2.0 */
/* erasure_journal.h - whom an officer had erased, and in which zone all keys of a tenant were ordered destroyed, kept outside the
 * database, so that a restored database can be told (docs/adr/0044). Ids and times alone: it leads to nobody by itself.
 *
 * <dir>/falaj-erasures.jsonl is a chain of lines (line_chain.h):
 *   {"v":1,"act":"erase","tenant":"<uuid>","user":"<uuid>","by":"<uuid>","ts_us":…,"prev":"<hex>"}
 *   {"v":1,"act":"shred","tenant":"<uuid>","zone":"<word>","version":N,"by":"<uuid>","ts_us":…,"prev":"<hex>"}
 *   {"v":1,"act":"keep","tenant":"<uuid>","zone":"<word>","version":N,"prev":"<hex>"}
 *                                                           that version was called off: an order with it is not repeated
 *   {"v":1,"act":"void","line":"<hex>","prev":"<hex>"}       that line's transaction was rolled back: nothing was erased
 * An order is written before its transaction commits. Pure of the database; any thread, any process of the machine. */
#pragma once
#include "audit/line_chain.h"
#include "core/base/id.h"

struct arena;

enum { ERASURE_JOURNAL_BYTES_MAX = 256 << 20,       /* about a million orders; more are refused */
       ERASURE_ZONE_MAX = 32 };

struct erasure_order {
    struct uuid tenant_id, user_id, by;
    int64_t ts_us;
};
/* All versions up to this one of a tenant's keys in a zone. */
struct shred_order {
    struct uuid tenant_id, by;
    char zone[ERASURE_ZONE_MAX];    /* [A-Za-z0-9._-] */
    int64_t version, ts_us;
};
struct erasure_orders {
    struct erasure_order *items;    /* by tenant and user, each once, without those that are void */
    size_t n;
    struct shred_order *shreds;     /* by tenant and zone, the last order of each, where nothing was called off since */
    size_t nshreds;
    size_t lines;
    size_t faults, first_fault;     /* lines that do not follow the one before, or say nothing; the first one's number */
};

MUST_CHECK enum errc erasure_journal_add(const char *dir, const struct erasure_order *o, uint8_t ret_line[SHA256_BYTES],
                                         struct err *e);
MUST_CHECK enum errc erasure_journal_shred(const char *dir, const struct shred_order *o, uint8_t ret_line[SHA256_BYTES],
                                           struct err *e);
MUST_CHECK enum errc erasure_journal_keep(const char *dir, struct uuid tenant_id, struct str zone, int64_t version,
                                          uint8_t ret_line[SHA256_BYTES], struct err *e);
MUST_CHECK enum errc erasure_journal_void(const char *dir, const uint8_t line[SHA256_BYTES], struct err *e);
/* In `a`. No file yet: no orders. A fault hides no other line: orders that can be read are given. */
MUST_CHECK enum errc erasure_journal_read(const char *dir, struct arena *a, struct erasure_orders *ret, struct err *e);
/* NULL: nobody has ordered it. */
const struct erasure_order *erasure_orders_find(const struct erasure_orders *o, struct uuid tenant_id, struct uuid user_id);
const struct shred_order *erasure_shreds_find(const struct erasure_orders *o, struct uuid tenant_id, struct str zone);
