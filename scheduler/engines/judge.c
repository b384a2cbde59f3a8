/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c - one pass over the objects of the run: the last try's best one is kept, what else lives is cancelled. */
#include "scheduler/engines/judge.h"

const char *const run_state_names[] = { [RUN_WANTED] = "WANTED", [RUN_SENT] = "SENT", [RUN_ENDED] = "ENDED", NULL };

static void cancel(struct run_verdict *v, const struct engine_seen *s)
{
    if (v->ncancel < RUN_CANCELS)
        v->cancel[v->ncancel++] = s->id;
}

/* Of two objects of one try: one that runs before one that waits (its token may be used), then the older, whose id is lower. */
static bool is_better(const struct engine_seen *a, const struct engine_seen *b)
{
    const bool a_waits = a->state == ENGINE_WAITS, b_waits = b->state == ENGINE_WAITS;
    if (a_waits != b_waits)
        return b_waits;
    return a->id.len != b->id.len ? a->id.len < b->id.len : str_cmp(a->id, b->id) < 0;
}

struct found {
    const struct engine_seen *best, *ended, *again;
    bool is_crowded;
};

static struct found look(const struct run_facts *r, const struct engine_seen *seen, size_t n, struct run_verdict *v)
{
    struct found f = { 0 };
    for (size_t i = 0; i < n; i++) {
        struct uuid run;
        int64_t tries;
        if (!engine_name_read(seen[i].name, &run, &tries) || !uuid_eq(run, r->run_id))
            continue;
        if (engine_has_ended(seen[i].state)) {
            if (tries == r->tries)
                f.ended = &seen[i];
        } else if (seen[i].is_again) {
            cancel(v, &seen[i]);                /* it would start only to end, when the engine gets to it */
            if (tries == r->tries)
                f.again = &seen[i];
        } else if (tries != r->tries) {
            cancel(v, &seen[i]);
        } else if (!f.best || is_better(&seen[i], f.best)) {
            if (f.best && f.best->state == ENGINE_WAITS)
                cancel(v, f.best);          /* two that run: the token tells them apart, the other ends by itself */
            f.best = &seen[i];
        } else if (seen[i].state == ENGINE_WAITS) {
            cancel(v, &seen[i]);
        }
    }
    return f;
}

struct run_verdict run_judge(const struct run_facts *r, const struct engine_seen *seen, size_t n, bool is_whole, int64_t now_us)
{
    struct run_verdict v = { .act = ACT_WAIT };
    const struct found f = look(r, seen, n, &v);
    const bool may = r->is_wanted && r->is_open;
    if (f.best) {
        v.seen = f.best;
        v.act = ACT_KEEP;
        v.differs = r->ask ? engine_differs(r->ask, f.best, r->account) : NULL;
        if (v.differs || (f.best->state == ENGINE_WAITS && !may))
            cancel(&v, f.best);
        if (v.differs) {
            v.act = ACT_END;
            v.outcome = "DIFFERS";
        }
        return v;
    }
    if (f.ended) {
        v.act = ACT_END;
        v.seen = f.ended;
        v.outcome = engine_state_names[f.ended->state];
        return v;
    }
    if (f.again) {
        v.act = ACT_END;
        v.seen = f.again;
        v.outcome = "REQUEUED";
        return v;
    }
    if (r->has_work)
        return v;
    if (r->state == RUN_SENT && (!is_whole || now_us - r->sent_us < ENGINE_SETTLE_US))
        return v;                           /* it may be on its way */
    if (!may) {
        v.act = ACT_END;
        v.outcome = "UNWANTED";
    } else if (r->tries >= ENGINE_TRIES) {
        v.act = ACT_END;
        v.outcome = "ABSENT";
    } else if (now_us >= r->wait_us) {
        v.act = ACT_SUBMIT;
    }
    return v;
}

bool run_is_stray(const struct engine_seen *s, bool keeps_ended)
{
    return keeps_ended ? s->state != ENGINE_LEAVES && !s->is_leaving : !engine_has_ended(s->state);
}
