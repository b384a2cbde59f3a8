/* SPDX-License-Identifier: Apache-2.0 */
/* lt_product.c - one kind of product after the other gets its descriptors and its way, once; from then on a product is one call.
 *
 * The library names up to WAYS ways, the likeliest first. Where it may be timed, each runs once to be there and once between
 * two events; then the first and the fastest, LIKELY in all, run RUNS times, and another one than the first must be faster
 * by a fiftieth, so that noise does not choose. All of them
 * add parts of sums in a fixed order. A result that is added to is not touched by what is tried: it goes to memory of its own.
 * Nothing is chosen while launches are captured: a kind that is new then is the own kernels' (runs launch each first).
 * A kind that is refused once is not asked for again. */
#include "workers/compute/kernels/cuda/lt_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS = 32, LIKELY = 4, RUNS = 8 };
static const double WORTH = 0.98;
static const float one = 1, zero = 0;

static void tell(struct lt *l, const struct lt_entry *n, const char *what, int status)
{
    if (l->was_told)
        return;
    const uint64_t *k = n->kind.of;
    l->was_told = l->has_news = true;
    snprintf(l->news, sizeof l->news, "cuBLASLt %s a product of %llu x %llu over %llu (end %llu, status %d): own kernels make "
             "it, and any other that it refuses", what, (unsigned long long)k[KIND_M], (unsigned long long)k[KIND_N],
             (unsigned long long)k[KIND_K], (unsigned long long)k[KIND_END], status);
}

/* Said once, when nothing else waits to be said: until then it is met again. */
static void tell_full(struct lt *l)
{
    if (l->was_told_full || l->has_news)
        return;
    l->was_told_full = l->has_news = true;
    snprintf(l->news, sizeof l->news, "cuBLASLt has ways for %d kinds of products, which is all that are kept: own kernels make "
             "those of any other kind", (int)LT_ENTRIES_MAX);
}

static int type_of(const struct lt_kind *k, int i)
{
    return (int)(k->of[KIND_TYPES] >> 8 * i & 0xff);
}

static int set(const struct lt *l, void *product, int what, const void *value, size_t size_bytes, int before)
{
    return before ? before : l->api.product_set(product, what, value, size_bytes);
}

/* Their first factor is our b, turned. */
static int describe_product(const struct lt *l, struct lt_entry *n)
{
    const struct lt_kind *k = &n->kind;
    const int32_t turn_a = (k->of[KIND_FLAGS] & LT_TURNS_B) != 0, turn_b = (k->of[KIND_FLAGS] & LT_TURNS_A) != 0;
    const int32_t bias_type = type_of(k, 2), aux_type = type_of(k, 1);
    const uint32_t end = (uint32_t)k->of[KIND_END];
    const int64_t aux_stride = (int64_t)k->of[KIND_STRIDE_AUX];
    int status = l->api.product_new(&n->product, LT_SUMS_F32, LT_F32);
    status = set(l, n->product, LT_TURN_A, &turn_a, sizeof turn_a, status);
    status = set(l, n->product, LT_TURN_B, &turn_b, sizeof turn_b, status);
    status = set(l, n->product, LT_END, &end, sizeof end, status);
    if (k->of[KIND_ALIGN] >> 48)
        status = set(l, n->product, LT_BIAS_TYPE, &bias_type, sizeof bias_type, status);
    if (aux_stride) {
        status = set(l, n->product, LT_AUX_STRIDE, &aux_stride, sizeof aux_stride, status);
        status = set(l, n->product, LT_AUX_TYPE, &aux_type, sizeof aux_type, status);
    }
    return status;
}

static int layout(const struct lt *l, const struct lt_kind *k, void **ret, int type, uint64_t rows, uint64_t cols, int i)
{
    const int32_t batch = (int32_t)k->of[KIND_BATCH];
    const int64_t step = (int64_t)k->of[KIND_STEP_A + i];
    int status = l->api.layout_new(ret, type, rows, cols, (int64_t)k->of[KIND_STRIDE_A + i]);
    if (batch > 1 && !status)
        status = l->api.layout_set(*ret, LT_LAYOUT_BATCH, &batch, sizeof batch);
    if (batch > 1 && !status)
        status = l->api.layout_set(*ret, LT_LAYOUT_STEP, &step, sizeof step);
    return status;
}

static int describe(const struct lt *l, struct lt_entry *n)
{
    const struct lt_kind *k = &n->kind;
    const uint64_t rows = k->of[KIND_M], cols = k->of[KIND_N], depth = k->of[KIND_K];
    bool ta = k->of[KIND_FLAGS] & LT_TURNS_A, tb = k->of[KIND_FLAGS] & LT_TURNS_B;
    int status = describe_product(l, n);
    status = status ? status : layout(l, k, &n->a, type_of(k, 0), ta ? rows : depth, ta ? depth : rows, 0);
    status = status ? status : layout(l, k, &n->b, type_of(k, 0), tb ? depth : cols, tb ? cols : depth, 1);
    return status ? status : layout(l, k, &n->out, type_of(k, 1), cols, rows, 2);
}

static void forget(const struct lt *l, struct lt_entry *n)
{
    if (n->product)
        (void)l->api.product_free(n->product);
    void *const layouts[] = { n->a, n->b, n->out };
    for (int i = 0; i < 3; i++)
        if (layouts[i])
            (void)l->api.layout_free(layouts[i]);
    n->product = n->a = n->b = n->out = NULL;
}

/* What changes from call to call with the same way. */
static int point(const struct lt *l, const struct lt_entry *n, const struct lt_product *p)
{
    const void *bias = (const void *)(uintptr_t)p->bias, *aux = (const void *)(uintptr_t)p->aux;
    int status = p->bias ? l->api.product_set(n->product, LT_BIAS, &bias, sizeof bias) : 0;
    return p->aux && !status ? l->api.product_set(n->product, LT_AUX, &aux, sizeof aux) : status;
}

static int run(struct backend_ctx *c, const struct lt_entry *n, const struct lt_way *way, const struct lt_product *p, gpu_ptr to)
{
    const struct lt *l = c->lt;
    void *out = (void *)(uintptr_t)to;
    return l->api.run(l->handle, n->product, &one, (const void *)(uintptr_t)p->b, n->b, (const void *)(uintptr_t)p->a, n->a,
                      p->kind.of[KIND_FLAGS] & LT_ADDS ? &one : &zero, out, n->out, out, n->out, way,
                      (void *)(uintptr_t)l->room, l->api.room_bytes, c->stream[QUEUE_COMPUTE]);
}

/* Milliseconds of so many runs; negative: it does not run. */
static float time_of(struct backend_ctx *c, const struct lt_entry *n, const struct lt_way *way, const struct lt_product *p,
                     gpu_ptr to, int runs)
{
    const struct lt *l = c->lt;
    void *stream = c->stream[QUEUE_COMPUTE];
    float ms = -1;
    bool ok = !c->d.event_record(l->from, stream);
    for (int i = 0; i < runs && ok; i++)
        ok = !run(c, n, way, p, to);
    ok = ok && !c->d.event_record(l->to, stream) && !c->d.stream_sync(stream) && !c->d.event_ms(&ms, l->from, l->to);
    return ok ? ms : -1;
}

static void room_for(const struct backend_ctx *c, gpu_ptr at, size_t size_bytes)
{
    const struct gpu_use use = { at, size_bytes, false, true, false };
    if (c->d.about && size_bytes)
        c->d.about(NULL, c->stream[QUEUE_COMPUTE], &use, 1);
}

/* Those that are worth a second look, in the library's order: the first that runs, and the fastest. */
static int look(struct backend_ctx *c, const struct lt_entry *n, const struct lt_product *p, const struct lt_answer *of,
                int count, gpu_ptr to, int ret[LIKELY])
{
    float ms[WAYS];
    int kept = 0;
    for (int i = 0; i < count; i++)
        ms[i] = run(c, n, &of[i].way, p, to) ? -1 : time_of(c, n, &of[i].way, p, to, 1);
    for (int i = 0; i < count && kept < LIKELY; i++) {
        int faster = 0;
        for (int k = 0; k < count; k++)
            faster += ms[k] >= 0 && (ms[k] < ms[i] || (ms[k] <= ms[i] && k < i));
        if (ms[i] >= 0 && (!kept || faster < LIKELY - 1))
            ret[kept++] = i;
    }
    return kept;
}

static void pick(struct backend_ctx *c, const struct lt_entry *n, const struct lt_product *p, const struct lt_answer *of,
                 int count, int *ret)
{
    gpu_ptr spare = 0, to = p->out;
    int likely[LIKELY], kept;
    float best = -1;
    *ret = 0;
    if (count < 2 || !c->lt->from)
        return;
    if (p->kind.of[KIND_FLAGS] & LT_ADDS) {
        if (c->d.memory_get(&spare, p->out_bytes) || c->d.memory_fill(spare, 0, p->out_bytes, c->stream[QUEUE_COMPUTE]))
            count = 0;                  /* no room to try: the first */
        else
            room_for(c, spare, p->out_bytes);
        to = spare;
    }
    kept = look(c, n, p, of, count, to, likely);
    for (int i = 0; i < kept; i++) {
        float ms = time_of(c, n, &of[likely[i]].way, p, to, RUNS);
        if (ms >= 0 && (best < 0 || ms < WORTH * best)) {
            best = ms;
            *ret = likely[i];
        }
    }
    if (spare && !c->d.stream_sync(c->stream[QUEUE_COMPUTE]))
        (void)c->d.memory_free(spare);          /* what is lost here is told by the next call of memory */
}

static int wish_of(const struct lt *l, const struct lt_kind *k)
{
    const uint64_t align = k->of[KIND_ALIGN];
    const uint32_t a = align & 0xffff, b = align >> 16 & 0xffff, out = align >> 32 & 0xffff;
    int status = l->api.wish_set(l->wish, LT_WISH_ALIGN_A, &b, sizeof b);
    status = status ? status : l->api.wish_set(l->wish, LT_WISH_ALIGN_B, &a, sizeof a);
    status = status ? status : l->api.wish_set(l->wish, LT_WISH_ALIGN_C, &out, sizeof out);
    return status ? status : l->api.wish_set(l->wish, LT_WISH_ALIGN_D, &out, sizeof out);
}

static int choose(struct backend_ctx *c, struct lt_entry *n, const struct lt_product *p)
{
    const struct lt *l = c->lt;
    struct lt_answer of[WAYS];
    int count = 0, good = 0, best;
    memset(of, 0, sizeof of);
    int status = wish_of(l, &n->kind);
    status = status ? status : l->api.ask(l->handle, n->product, n->b, n->a, n->out, n->out, l->wish, WAYS, of, &count);
    if (status)
        return status;
    for (int i = 0; i < count && i < WAYS; i++)
        if (!of[i].status && of[i].room_bytes <= l->api.room_bytes)
            of[good++] = of[i];
    if (!good)
        return LT_NOT_SUPPORTED;
    pick(c, n, p, of, good, &best);
    n->way = of[best].way;
    n->room_bytes = of[best].room_bytes;
    return 0;
}

/* A way of before is right where the library still takes it for this kind. */
static int take_up(const struct lt *l, struct lt_entry *n)
{
    struct lt_answer a;
    memset(&a, 0, sizeof a);
    int status = l->api.check(l->handle, n->product, n->b, n->a, n->out, n->out, &n->way, &a);
    return status ? status : a.room_bytes <= l->api.room_bytes ? 0 : LT_NOT_SUPPORTED;
}

static void prepare(struct backend_ctx *c, struct lt_entry *n, const struct lt_product *p)
{
    struct lt *l = c->lt;
    bool was_kept = n->state == LT_KEPT;
    int status = describe(l, n);
    status = status ? status : point(l, n, p);
    if (!status && (!was_kept || take_up(l, n)))
        status = choose(c, n, p);
    n->state = status ? LT_REFUSED : LT_CHOSEN;
    if (!status)
        return;
    forget(l, n);
    if (!p->is_try)
        tell(l, n, "refuses", status);
}

static struct lt_entry *entry_of(struct lt *l, const struct lt_kind *k)
{
    for (size_t i = 0; i < l->count; i++)
        if (!memcmp(&l->of[i].kind, k, sizeof *k))
            return &l->of[i];
    return NULL;
}

bool lt_is_refused(const struct backend_ctx *c, const struct lt_kind *k)
{
    const struct lt_entry *n = entry_of(c->lt, k);
    return n && n->state == LT_REFUSED;
}

bool lt_do(struct backend_ctx *c, const struct lt_product *p)
{
    struct lt *l = c->lt;
    struct lt_entry *n = entry_of(l, &p->kind);
    if (c->failed || (n && n->state == LT_REFUSED))
        return false;
    if (!n || n->state == LT_KEPT) {
        if (!n && l->count == LT_ENTRIES_MAX)
            tell_full(l);
        if (c->capture || (!n && l->count == LT_ENTRIES_MAX))
            return false;
        if (!n)
            *(n = &l->of[l->count++]) = (struct lt_entry){ .kind = p->kind, .state = LT_REFUSED };
        room_for(c, l->room, l->api.room_bytes);
        prepare(c, n, p);
    } else {
        room_for(c, l->room, l->api.room_bytes);
    }
    if (n->state != LT_CHOSEN)
        return false;
    int status = point(l, n, p);
    status = status ? status : run(c, n, &n->way, p, p->out);
    if (!status)
        return true;
    forget(l, n);
    n->state = LT_REFUSED;
    tell(l, n, "fails at", status);
    return false;
}

/* Milliseconds of RUNS, after one; no number: something failed. */
static float time_both(struct backend_ctx *c, const struct lt_product *p, const struct op_call *o, lt_apart *apart)
{
    const struct lt *l = c->lt;
    void *stream = c->stream[QUEUE_COMPUTE];
    float ms = -1;
    bool ok = true;
    for (int i = -1; i < RUNS && ok; i++) {
        if (apart)
            apart(c, o);
        else
            ok = lt_do(c, p);
        ok = ok && (i >= 0 || !c->d.event_record(l->from, stream));
    }
    ok = ok && !c->failed && !c->d.event_record(l->to, stream) && !c->d.stream_sync(stream)
         && !c->d.event_ms(&ms, l->from, l->to);
    return ok ? ms : -1;
}

bool lt_do_or(struct backend_ctx *c, const struct lt_product *p, const struct op_call *o, lt_apart *apart)
{
    struct lt *l = c->lt;
    const uint64_t moves = c->scratch_moves;
    bool is_new = !entry_of(l, &p->kind);
    if (!lt_do(c, p))
        return false;
    if (!is_new || !l->from)
        return true;
    float one_pass = time_both(c, p, o, NULL), more = time_both(c, p, o, apart);
    struct lt_entry *n = entry_of(l, &p->kind);
    if (n->state == LT_CHOSEN && one_pass >= 0 && (more < 0 || one_pass < WORTH * more))
        return moves != c->scratch_moves || lt_do(c, p);        /* what is there now is the other's, and as right */
    if (n->state == LT_CHOSEN)
        forget(l, n);
    n->state = LT_REFUSED;
    return false;
}

static void name(struct backend_ctx *c, struct lt *l)
{
    char card[64] = "";
    int v[3] = { 0 };
    for (int i = 0; i < 3; i++)
        (void)l->api.property(i, &v[i]);        /* 0.0.0 is a name, too */
    (void)c->d.device_name(card, sizeof card, c->device);
    for (char *p = card; *p; p++)
        *p = *p == ' ' || *p == ';' ? '-' : *p;
    snprintf(l->name, sizeof l->name, "%d.%d.%d %s", v[0], v[1], v[2], card);
}

static int set_up(struct backend_ctx *c, struct lt *l, bool is_timed)
{
    const uint64_t room = l->api.room_bytes;
    const uint32_t reduction = LT_REDUCTION_FIXED;
    int status = l->api.open(&l->handle);
    status = status ? status : l->api.wish_new(&l->wish);
    status = status ? status : l->api.wish_set(l->wish, LT_WISH_ROOM, &room, sizeof room);
    status = status ? status : l->api.wish_set(l->wish, LT_WISH_REDUCTION, &reduction, sizeof reduction);
    if (status || c->d.memory_get(&l->room, l->api.room_bytes))
        return status ? status : -1;
    if (is_timed && (c->d.event_new(&l->from, 0) || c->d.event_new(&l->to, 0)))
        return -1;
    name(c, l);
    return 0;
}

enum errc cuda_lt_open(struct backend_ctx *c, const struct lt_api *api, bool is_timed, struct err *e)
{
    struct lt *l = calloc(1, sizeof *l);
    if (!l)
        return FAIL(e, LIMIT, "no memory for a context of cuBLASLt");
    l->api = *api;
    cuda_lt_close(c);
    c->lt = l;
    cuda_did(c, c->d.context_use(c->context), "context_use");
    int status = set_up(c, l, is_timed);
    if (!status)
        return ERR_OK;
    cuda_lt_close(c);
    return FAIL(e, UNAVAILABLE, "cuBLASLt takes no card of this process (status %d)", status);
}

void cuda_lt_close(struct backend_ctx *c)
{
    struct lt *l = c->lt;
    if (!l)
        return;
    for (size_t i = 0; i < l->count; i++)
        forget(l, &l->of[i]);
    if (l->wish)
        (void)l->api.wish_free(l->wish);
    if (l->handle)
        (void)l->api.close(l->handle);
    void *const events[] = { l->from, l->to };
    for (int i = 0; i < 2; i++)
        if (events[i])
            (void)c->d.event_free(events[i]);
    if (l->room)
        (void)c->d.memory_free(l->room);
    free(l);
    c->lt = NULL;
}
