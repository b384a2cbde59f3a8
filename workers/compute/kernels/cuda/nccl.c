/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.c - libnccl.so.2 by dlopen; a link is a communicator and the compute queue of its context.
 *
 * Whoever waits asks the stream, the communicator and its caller in turns: without a rest for the first millisecond, which is
 * as long as an exchange of some megabytes takes, then 20,000 times a second. */
#include "workers/compute/kernels/cuda/nccl.h"
#include "core/base/clock.h"
#include "core/base/library.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EAGER_US = 1000, REST_US = 50 };

struct card_link {
    struct backend_ctx *ctx;
    const struct nccl *lib;
    struct card_link_spec spec;
    void *comm;                 /* NULL: given up */
};

static const struct library_call calls[] = {
#define CALL(name, symbol, arguments) { symbol, offsetof(struct nccl, name) },
#include "workers/compute/kernels/cuda/nccl.def"
#undef CALL
    { "ncclGetErrorString", offsetof(struct nccl, text) },
};

enum errc nccl_open(const char *path, struct nccl *ret, struct err *e)
{
    struct nccl d = { 0 };
    struct err why;
    void *library;
    TRY(library_open(path, "NCCL", &library, e));
    if (library_fill(library, path, calls, sizeof calls / sizeof *calls, &d, &why) != ERR_OK)
        return FAIL(e, UNAVAILABLE, "%.180s; NCCL 2.14 or later is needed", why.msg);
    *ret = d;
    return ERR_OK;
}

static enum errc failed(const struct nccl *lib, const char *what, int code, struct err *e)
{
    const char *text = lib->text(code);
    return FAIL(e, UPSTREAM, "NCCL: %s: %s (%d)", what, text ? text : "an error without a text", code);
}

/* What was begun comes to nothing; who waits on its stream goes on. */
static void give_up(struct card_link *l)
{
    if (l->comm)
        (void)l->lib->abort(l->comm);           /* it is over either way */
    l->comm = NULL;
}

/* Until the communicator is ready for more and, where asked for, the stream has done all. */
static enum errc settle(struct card_link *l, const char *what, void *stream, struct err *e)
{
    int64_t began = clock_mono_us(&clock_system), spent = 0;
    for (;; spent = clock_mono_us(&clock_system) - began) {
        int state = 0, code = l->lib->state(l->comm, &state), on_card = 0;
        if (code || (state && state != NCCL_IN_PROGRESS))
            return failed(l->lib, what, code ? code : state, e);
        if (!state && stream && (on_card = l->ctx->d.stream_query(stream)) && on_card != GPU_NOT_READY)
            return FAIL(e, INTERNAL, "the card failed in an exchange of %s (%d)", what, on_card);
        if (!state && !on_card)
            return ERR_OK;
        if (l->spec.is_over && l->spec.is_over(l->spec.over_ctx))
            return FAIL(e, UPSTREAM, "another rank ended during an exchange of %s", what);
        if (spent > l->spec.patience_ms * 1000)
            return FAIL(e, UPSTREAM, "an exchange of %s between cards did not end in %ld ms", what, (long)l->spec.patience_ms);
        if (spent > EAGER_US)
            (void)nanosleep(&(struct timespec){ .tv_nsec = REST_US * 1000 }, NULL);        /* a shorter rest does no harm */
    }
}

enum errc nccl_link_id(const struct nccl *lib, unsigned char ret[CARD_LINK_ID], struct err *e)
{
    struct nccl_id id;
    int code = lib->id(&id);
    if (code)
        return failed(lib, "no meeting place, for which it needs sockets", code, e);
    memcpy(ret, id.internal, CARD_LINK_ID);
    return ERR_OK;
}

enum errc nccl_link_new(const struct nccl *lib, struct backend_ctx *c, const struct card_link_spec *s, struct card_link **ret,
                        struct err *e)
{
    struct nccl_config config = { sizeof config, NCCL_MAGIC, NCCL_CONFIG_OF, 0 };
    struct nccl_id id;
    struct card_link *l = calloc(1, sizeof *l);
    if (!l)
        return FAIL(e, LIMIT, "no memory for a link between cards");
    *l = (struct card_link){ .ctx = c, .lib = lib, .spec = *s };
    memcpy(id.internal, s->id, CARD_LINK_ID);
    (void)c->d.context_use(c->context);         /* the communicator is of the thread's card; a failure shows in init */
    int code = lib->init(&l->comm, s->size, id, s->rank, &config);
    enum errc rc = code && code != NCCL_IN_PROGRESS ? failed(lib, "ranks do not meet", code, e) : ERR_OK;
    if (rc == ERR_OK)
        rc = settle(l, "ranks", NULL, e);
    if (rc != ERR_OK) {
        give_up(l);
        free(l);
        return rc;
    }
    *ret = l;
    return ERR_OK;
}

static int ask(struct card_link *l, const struct card_part *p)
{
    char *at = (char *)p->buf->handle + p->at_bytes;
    void *stream = l->ctx->stream[QUEUE_COMPUTE];
    return p->is_sent ? l->lib->send(at, p->bytes, NCCL_BYTES, p->peer, l->comm, stream)
                      : l->lib->recv(at, p->bytes, NCCL_BYTES, p->peer, l->comm, stream);
}

enum errc nccl_exchange(struct card_link *l, const char *what, const struct card_part *parts, size_t n, struct err *e)
{
    enum errc rc;
    if (!l->comm)
        return FAIL(e, UPSTREAM, "the cards exchange nothing any more");
    (void)l->ctx->d.context_use(l->ctx->context);
    int code = l->lib->group_begin();
    for (size_t i = 0; i < n && (!code || code == NCCL_IN_PROGRESS); i++) {
        ASSERT(parts[i].at_bytes <= parts[i].buf->size_bytes && parts[i].bytes <= parts[i].buf->size_bytes - parts[i].at_bytes);
        code = parts[i].bytes ? ask(l, &parts[i]) : 0;
    }
    int end = l->lib->group_end();              /* also behind a failure, else the thread stays in its group */
    code = code && code != NCCL_IN_PROGRESS ? code : end;
    if (code && code != NCCL_IN_PROGRESS)
        rc = failed(l->lib, what, code, e);
    else
        rc = settle(l, what, l->ctx->stream[QUEUE_COMPUTE], e);
    if (rc != ERR_OK)
        give_up(l);
    return rc;
}

void nccl_link_free(struct card_link *l)
{
    if (!l)
        return;
    (void)l->ctx->d.context_use(l->ctx->context);
    if (l->comm)
        (void)l->lib->destroy(l->comm);         /* at the end there is nobody to tell */
    free(l);
}
