/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - checks a bundle in one pass: each entry against its leaf, its tenant, its number and the chain, all against the head.
 *
 * The order of the checks names the damage. Where two kinds look alike at the place they are seen (a gap is a deletion or a swap, a
 * broken chain an edit, a deletion or an insertion with renumbering), the place is kept, the rest of the entries is only
 * counted, and the count decides. An attacker who recomputes all that follows is seen by the head and its checkpoints. */
#include "audit/verify.h"
#include <stdarg.h>
#include <stdio.h>
#include "audit/record.h"
#include "audit/scan_int.h"
#include "audit/verify_int.h"
#include "core/base/cleanup.h"

const char *verify_damage_text(enum verify_damage d)
{
    static const char *const names[] = { "ok", "edited", "deleted", "truncated", "inserted", "swapped", "duplicated",
                                         "spliced", "forked", "wrong_key", "malformed", "unreadable" };
    return (unsigned)d < sizeof names / sizeof names[0] ? names[d] : "unknown";
}

bool verify_bad(struct verifier *v, enum verify_damage d, uint64_t tseq, const char *fmt, ...)
{
    if (v->ret->damage != VERIFY_OK)
        return false;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(v->ret->text, sizeof v->ret->text, fmt, ap);
    va_end(ap);
    v->ret->damage = d;
    v->ret->tseq = tseq;
    return false;
}

static bool suspend(struct verifier *v, enum verify_pending kind, uint64_t tseq, uint64_t gap)
{
    v->pending = kind;
    v->pending_tseq = tseq;
    v->pending_line = v->ret->line;
    v->pending_gap = gap;
    return true;
}

/* An entry whose number is not the next one. */
static bool on_order(struct verifier *v, const struct line_facts *r)
{
    uint64_t e = v->expected;
    struct merkle_hash h;
    if (r->tseq > e && e <= v->to)
        return suspend(v, PENDING_GAP, e, r->tseq);
    bool is_last = r->tseq + 1 == e && v->seen > 1;
    if (is_last && !merkle_eq(&r->leaf, &v->last_leaf)) {
        chain_next(&v->back, &r->leaf, &h);
        return verify_bad(v, VERIFY_INSERTED, merkle_eq(&h, &r->chain) ? r->tseq : e, "an entry was put in near %llu",
                          (unsigned long long)r->tseq);
    }
    if (r->tseq >= v->m.from && r->tseq < e)
        return verify_bad(v, VERIFY_DUPLICATED, e, "entry %llu stands here again", (unsigned long long)r->tseq);
    return verify_bad(v, VERIFY_INSERTED, e, "entry %llu is beyond the log", (unsigned long long)r->tseq);
}

static bool on_chain_break(struct verifier *v, const struct line_facts *r)
{
    struct merkle_hash h;
    chain_next(&v->back, &r->leaf, &h);
    if (v->seen > 1 && merkle_eq(&h, &r->chain))
        return verify_bad(v, VERIFY_INSERTED, v->expected - 1, "the chain runs past this entry: it was put in");
    return suspend(v, PENDING_CHAIN, v->expected, 0);
}

/* Entries after the damage: counted, and looked at for what tells its kind. */
static bool after_damage(struct verifier *v, const struct line_facts *r)
{
    struct str s = r->line;
    uint64_t tseq = 0;
    if (scan_lit(&s, "{\"tseq\":") && scan_u64(&s, &tseq) && tseq >= v->pending_tseq && tseq < v->pending_gap)
        v->has_returned = true;
    if (!v->has_next && v->pending == PENDING_CHAIN && r->is_record) {
        struct merkle_hash h;
        chain_next(&v->chain, &r->leaf, &h);
        v->fits_next = merkle_eq(&h, &r->chain);
    }
    v->has_next = true;
    return true;
}

static bool on_body(struct verifier *v, const struct line_facts *r, uint64_t tseq)
{
    if (r->is_withheld)
        return true;
    if (!r->has_event)
        return verify_dropped(v, tseq);
    if (!r->is_leaf)
        return verify_bad(v, VERIFY_EDITED, tseq, "the event does not have the hash it was recorded with");
    return r->is_opened || verify_bad(v, VERIFY_MALFORMED, tseq, "what was recorded does not begin as an event does");
}

static bool on_filter(struct verifier *v, const struct line_facts *r)
{
    if (r->is_withheld) {
        v->ret->withheld++;
        return !r->is_through || verify_bad(v, VERIFY_DELETED, r->tseq,
                                            "the entry is left out, and what it shows does not say that it does not fit");
    }
    if (!r->is_read)
        return verify_bad(v, VERIFY_MALFORMED, r->tseq, "the event is not canonical, so the filter cannot be checked");
    return r->is_through || verify_bad(v, VERIFY_INSERTED, r->tseq, "the filter of the bundle does not let this entry through");
}

static bool on_selected(struct verifier *v, const struct line_facts *r)
{
    if (r->tseq < v->expected)
        return verify_bad(v, v->seen > 1 && r->tseq + 1 == v->expected ? VERIFY_DUPLICATED : VERIFY_SWAPPED, r->tseq,
                          "entries of a selection must ascend");
    if (r->tseq > v->to)
        return verify_bad(v, VERIFY_INSERTED, r->tseq, "the entry is beyond the range");
    if (!on_body(v, r, r->tseq) || !on_filter(v, r))
        return false;
    if (!r->is_placed)
        return verify_bad(v, VERIFY_EDITED, r->tseq, "the entry is not at this place in the tree of the signed head");
    v->expected = r->tseq + 1;
    return true;
}

static bool on_record(struct verifier *v, const struct line_facts *r)
{
    struct merkle_hash h;
    v->ret->count = ++v->seen;
    if (v->pending)
        return after_damage(v, r);
    if (!r->is_record)
        return verify_bad(v, VERIFY_MALFORMED, v->expected, "a line is not an entry");
    if (r->is_opened && !r->is_own)
        return verify_bad(v, VERIFY_SPLICED, v->expected, "an event of another tenant stands here");
    if (v->m.is_selection)
        return on_selected(v, r);
    if (r->tseq != v->expected || v->expected > v->to) {
        if (v->expected > v->to && r->tseq == v->expected)
            return verify_bad(v, merkle_eq(&r->leaf, &v->last_leaf) ? VERIFY_DUPLICATED : VERIFY_INSERTED, v->expected,
                              "the entry is beyond the log");
        return on_order(v, r);
    }
    if (!on_body(v, r, v->expected))
        return false;
    if (v->seen > 1 && merkle_eq(&r->leaf, &v->last_leaf))
        return verify_bad(v, VERIFY_DUPLICATED, v->expected, "the entry before stands here again under a new number");
    chain_next(&v->chain, &r->leaf, &h);
    if (!merkle_eq(&h, &r->chain))
        return on_chain_break(v, r);
    if (!on_filter(v, r))
        return false;
    v->back = v->chain;
    v->chain = h;
    v->last_leaf = r->leaf;
    v->expected++;
    merkle_add(&v->tree, &r->leaf);
    return verify_known_here(v);
}

static bool on_line(struct verifier *v, const struct line_facts *r)
{
    struct str line = r->line;
    if (v->has_end) {
        return verify_bad(v, VERIFY_MALFORMED, 0, "something stands after the end line");
    } else if (str_starts(line, "{\"end\":")) {
        v->has_end = true;
        return bundle_end_decode(line, &v->end) || v->pending || verify_bad(v, VERIFY_MALFORMED, 0, "the end line does not parse");
    } else if (str_starts(line, "{\"checkpoint\":")) {
        if (!v->pending && !verify_checkpoint(v, line))
            return false;
    } else if (str_starts(line, "{\"retention\":")) {
        if (!v->pending && !verify_retention(v, line))
            return false;
    } else {
        return on_record(v, r);
    }
    return true;
}

static bool resolve_pending(struct verifier *v)
{
    unsigned long long t = v->pending_tseq, gap = v->pending_gap;
    v->ret->line = v->pending_line;
    if (v->pending == PENDING_GAP) {
        if (v->has_returned)
            return verify_bad(v, v->seen > v->want ? VERIFY_DUPLICATED : VERIFY_SWAPPED, t, "entry %llu stands in the place of %llu", gap, t);
        if (v->seen > v->want)
            return verify_bad(v, VERIFY_INSERTED, t, "an entry numbered %llu was put in", gap);
        return verify_bad(v, VERIFY_DELETED, t, "the entries %llu to %llu are missing", t, gap - 1);
    }
    if (v->seen > v->want)
        return verify_bad(v, VERIFY_INSERTED, t, "an entry that the log never had stands here");
    if (v->seen < v->want)
        return verify_bad(v, VERIFY_DELETED, t, "an entry is missing here and those after it were renumbered");
    if (v->fits_next)
        return verify_bad(v, VERIFY_SWAPPED, t, "the entry stands in the place of the next");
    return verify_bad(v, VERIFY_EDITED, t, "the chain breaks here");
}

static bool finish(struct verifier *v, enum line_state state)
{
    if (state == LINE_ERROR)
        return verify_bad(v, VERIFY_UNREADABLE, 0, "the bundle cannot be read");
    if (state == LINE_LONG)
        return verify_bad(v, VERIFY_MALFORMED, v->expected, "a line is longer than %d bytes", AUDIT_LINE_MAX);
    if (v->ret->line == 0)
        return verify_bad(v, state == LINE_PARTIAL ? VERIFY_TRUNCATED : VERIFY_MALFORMED, 0, "there is no manifest");
    if (v->pending)
        return resolve_pending(v);
    if (!v->m.is_selection && v->expected <= v->to)
        return verify_bad(v, VERIFY_TRUNCATED, v->expected, "the entries end before %llu, %llu should be the last",
                          (unsigned long long)v->expected, (unsigned long long)v->to);
    if (state == LINE_PARTIAL)
        return verify_bad(v, VERIFY_TRUNCATED, 0, "the last line is cut");
    v->ret->line = 0;
    batches_sum(&v->lines, v->digest.b);
    return verify_close(v);
}

static void run(struct verifier *v)
{
    const struct line_facts *facts;
    struct str line;
    enum line_state state = batches_first(&v->lines, &line);
    if (state == LINE_HERE) {
        v->ret->line = 1;
        if (!verify_manifest(v, line))
            return;
        v->look = (struct look_case){ &v->m, &v->ret->head };
        batches_look(&v->lines, &v->look);
        while ((state = batches_next(&v->lines, &facts)) == LINE_HERE) {
            v->ret->line++;
            if (!on_line(v, facts))
                return;
        }
    }
    finish(v, state);
}

int audit_verify(verify_read_fn read, void *ctx, const struct verify_opts *opts, struct verify_result *ret)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(sizeof(struct verifier) + 4096);
    struct verifier *v = ARENA_NEW(a, struct verifier);
    memset(ret, 0, sizeof *ret);
    v->opts = opts;
    v->ret = ret;
    batches_open(&v->lines, read, ctx, opts->threads, &v->room);
    run(v);
    batches_close(&v->lines);
    drop_list_release(&v->drops);
    return ret->damage == VERIFY_OK ? 0 : 1;
}
