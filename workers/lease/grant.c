/* SPDX-License-Identifier: Apache-2.0 */
/* grant.c - leases as the API sends them, from JSON, and a copy in one piece. */
#include "workers/agent/client.h"

#include <stdlib.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"

static enum errc input_parse(const struct jval *v, struct grant_input *in, struct err *e)
{
    TRY(jval_need_str(v, "name", &in->name, e));
    TRY(jval_need_str(v, "kind", &in->kind, e));
    in->sha256 = jval_str(jval_get(v, "sha256"));
    TRY(jval_need_i64(v, "version", 0, UINT32_MAX, &in->version, e));
    TRY(jval_need_i64(v, "size_bytes", 0, INT64_MAX, &in->size_bytes, e));
    if (!id_parse("obj", jval_str(jval_get(v, "object_id")), &in->object_id))
        return FAIL(e, UPSTREAM, "an input lacks its object_id");
    return ERR_OK;
}

static enum errc grant_parse(struct arena *a, const struct jval *v, struct grant *g, struct err *e)
{
    if (!id_parse("tnt", jval_str(jval_get(v, "tenant_id")), &g->tenant_id) ||
        !id_parse("att", jval_str(jval_get(v, "attempt_id")), &g->attempt_id) ||
        !id_parse("job", jval_str(jval_get(v, "job_id")), &g->job_id))
        return FAIL(e, UPSTREAM, "a lease lacks its ids");
    TRY(jval_need_i64(v, "fence", 0, INT64_MAX, &g->fence, e));
    TRY(jval_need_str(v, "kind", &g->kind, e));
    g->name = jval_str(jval_get(v, "name"));
    g->zone = jval_str(jval_get(v, "zone"));
    g->slots = jval_i64(jval_get(v, "slots"), 1);
    g->gpus = jval_i64(jval_get(v, "gpus"), 0);
    g->lease_ms = jval_i64(jval_get(v, "lease_ms"), 30000);
    g->max_runtime_s = jval_i64(jval_get(v, "max_runtime_s"), 0);
    g->spec = STR("{}");
    const struct jval *spec = jval_get(v, "spec"), *inputs = jval_get(v, "inputs");
    if (jval_type(spec) == JT_OBJECT && jval_len(spec)) {
        CLEANUP(buf_releasep) struct buf b = BUF((size_t)1 << 20);
        if (!jval_encode(spec, false, &b))
            return FAIL(e, UPSTREAM, "a lease's spec is too long");
        g->spec = str_dup(a, buf_str(&b));
    }
    if (jval_len(inputs) > INPUTS_MAX)
        return FAIL(e, UPSTREAM, "a lease has more than %d inputs", INPUTS_MAX);
    for (size_t i = 0; i < jval_len(inputs); i++)
        TRY(input_parse(jval_at(inputs, i), &g->inputs[g->n_inputs++], e));
    return ERR_OK;
}

enum errc grants_parse(struct arena *a, const struct jval *list, struct grant **ret, size_t *ret_n, struct err *e)
{
    size_t n = jval_len(list);
    struct grant *g = ARENA_ARRAY(a, struct grant, n + 1);
    size_t i = 0;
    for (struct jval_iter it = jval_iter(list); jval_next(&it); i++)
        TRY(grant_parse(a, it.value, &g[i], e));
    *ret = g;
    *ret_n = n;
    return ERR_OK;
}

/* Copy s to *at and move on; with out NULL only count. */
static void take(struct str *s, char **at, size_t *total, bool copy)
{
    *total += s->len + 1;
    if (!copy)
        return;
    char *p = *at;
    if (s->len)
        memcpy(p, s->ptr, s->len);
    p[s->len] = '\0';
    *at += s->len + 1;
    s->ptr = s->ptr ? p : NULL;
}

static size_t take_all(struct grant *g, char *at, bool copy)
{
    size_t total = 0;
    take(&g->kind, &at, &total, copy);
    take(&g->name, &at, &total, copy);
    take(&g->zone, &at, &total, copy);
    take(&g->spec, &at, &total, copy);
    for (size_t i = 0; i < g->n_inputs; i++) {
        take(&g->inputs[i].name, &at, &total, copy);
        take(&g->inputs[i].kind, &at, &total, copy);
        take(&g->inputs[i].sha256, &at, &total, copy);
    }
    return total;
}

struct grant *grant_copy_new(const struct grant *g)
{
    struct grant probe = *g;
    struct grant *copy = malloc(sizeof *copy + take_all(&probe, NULL, false));
    ASSERT(copy);
    *copy = *g;
    take_all(copy, (char *)(copy + 1), true);
    return copy;
}
