/* SPDX-License-Identifier: Apache-2.0 */
/* last_change.c - one statement over three places: full pages, numbered entries in no page yet, events without a number. */
#include "audit/last_change.h"
#include "audit/bloom.h"
#include "core/base/work.h"
#include "core/db/tx.h"
#include "core/table/schema.h"

/* Newer events than the sequencer needs at its worst; and how many of them are looked through. */
#define UNNUMBERED_US INT64_C(60000000)
enum { UNNUMBERED_MAX = 5000 };

SCHEMA_OF(audit_last_change, "The last change of an object", FIELD(audit_last_change, at, 0, .doc = "When"),
    FIELD(audit_last_change, actor, 0, .doc = "Kind of who did it"), FIELD(audit_last_change, actor_id, 0, .doc = "Who"));

#define IS_IT "s.resource_id = $2 AND starts_with(s.action, $3) AND right(s.code, 1) = 'S' ORDER BY s.tseq DESC LIMIT 1"
static const struct stmt last_change_stmt = { .name = "audit_last_change", .params = "ussuiI", .row = &audit_last_change_schema,
    .card = CARD_MAYBE, .sql =
    "SELECT c.at, c.actor, c.actor_id FROM (\n"
    "  (SELECT s.at, s.actor, s.actor_id FROM (\n"
    "     SELECT first_tseq, last_tseq FROM audit_page\n"
    "      WHERE tenant_id = $1 AND (bloom IS NULL OR " AUDIT_BLOOM_SQL("bloom", "$6") ")\n"
    "      ORDER BY first_tseq DESC LIMIT 32) p CROSS JOIN LATERAL (\n"
    "     SELECT s.at, s.actor, s.actor_id, s.tseq FROM audit_seq s\n"
    "      WHERE s.tenant_id = $1 AND s.tseq BETWEEN p.first_tseq AND p.last_tseq AND " IS_IT ") s\n"
    "   ORDER BY s.tseq DESC LIMIT 1)\n"
    "  UNION ALL\n"
    "  (SELECT s.at, s.actor, s.actor_id FROM audit_seq s\n"
    "    WHERE s.tenant_id = $1 AND s.tseq > (SELECT paged FROM audit_log_state WHERE tenant_id = $1) AND " IS_IT ")\n"
    "  UNION ALL\n"
    "  SELECT n.at, j #>> '{actor,type}', (j #>> '{actor,id}')::uuid\n"
    "    FROM (SELECT e.at, e.body FROM audit_event e WHERE e.tenant_id = $1 AND e.event_id > $4\n"
    "           ORDER BY e.event_id DESC LIMIT $5) n,\n"
    "         LATERAL (SELECT CASE WHEN position(convert_to($2, 'UTF8') IN n.body) > 0\n"
    "                              THEN convert_from(n.body, 'UTF8')::jsonb END) x(j)\n"
    "   WHERE j #>> '{resource,id}' = $2 AND starts_with(j ->> 'action', $3) AND right(j ->> 'code', 1) = 'S') c\n"
    " ORDER BY c.at DESC LIMIT 1" };

const struct stmt *const audit_last_change_stmts[] = { &last_change_stmt, NULL };

enum errc audit_last_change(struct work *w, struct uuid tenant, struct str resource_id, struct str family,
                            struct audit_last_change *ret, bool *found, struct err *e)
{
    int64_t bits[AUDIT_BLOOM_WORDS][AUDIT_WORD_BITS];
    struct uuid floor = { 0 };
    uint64_t ms = (uint64_t)((w->now_us - UNNUMBERED_US) / 1000);
    for (int i = 0; i < 6; i++)
        floor.b[i] = (uint8_t)(ms >> (8 * (5 - i)));
    for (int i = 0; i < AUDIT_BLOOM_WORDS; i++)
        audit_word_bits(i ? AUDIT_WORD_RESOURCE : AUDIT_WORD_ACTION, i ? resource_id : family, bits[i]);
    return db_maybe(w->tx, &last_change_stmt, ARGS(A_UUID(tenant), A_STR(resource_id), A_STR(family), A_UUID(floor),
                    A_I64(UNNUMBERED_MAX), A_I64S(&bits[0][0], AUDIT_BLOOM_WORDS * AUDIT_WORD_BITS)), ret, found, e);
}
