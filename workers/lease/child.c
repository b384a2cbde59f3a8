/* SPDX-License-Identifier: Apache-2.0 */
/* child.c - from exec to the job's end: grant and keys in, sandbox, job, result out.
 *
 * Everything before child_enter_sandbox is our own code over data of the agent; the tenant's bytes are first read after it. Exit:
 * 0 the job said its end, CHILD_STOPPED it was told to stop, 1 it could not say. */
#include "workers/lease/child.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/pages.h"
#include "core/crypto/hash.h"
#include "core/crypto/stream.h"
#include "core/json/decode.h"
#include "workers/lease/child_engine.h"
#include "workers/lease/child_int.h"
#include "workers/lease/sandbox.h"
#include "workers/lease/work_type.h"

enum { LINE_MAX_BYTES = 2000, READ_BYTES = 1 << 18, CHILD_FILES = 256, SERVE_FILES = 4096 };

static _Atomic bool stop_asked;

static void on_term(int signal_number)
{
    (void)signal_number;
    stop_asked = true;
}

void child_log(const struct child *c, const char *fmt, ...)
{
    char line[LINE_MAX_BYTES];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    (void)c;
    struct str text = str_n(line, n < 0 ? 0 : n < LINE_MAX_BYTES ? (size_t)n : LINE_MAX_BYTES - 1);
    if (frame_send(FRAME_FD, FRAME_LOG, STR_NULL, text, NULL, 0, false, NULL) != ERR_OK)
        return;                         /* the agent is behind */
}

void child_metric(const struct child *c, int64_t step, struct str values_json)
{
    (void)c;
    if (frame_send(FRAME_FD, FRAME_METRIC, str_n((const char *)&step, sizeof step), values_json, NULL, 0, false, NULL) != ERR_OK)
        return;
}

/* Plaintext that is gathered, and its digest, taken while a piece is still in the cache. */
struct gathered {
    struct buf *b;
    struct sha256 sha;
    size_t brought;                 /* so many of its bytes have their pages */
};

static enum errc into_gathered(void *ctx, const void *p, size_t n, struct err *e)
{
    struct gathered *g = ctx;
    for (; g->b->len + n > g->brought && g->brought < g->b->cap; g->brought += PAGES_SLAB)
        pages_bring(g->b->ptr + g->brought, g->b->cap - g->brought < PAGES_SLAB ? g->b->cap - g->brought : PAGES_SLAB, true);
    if (!buf_add(g->b, p, n))
        return FAIL(e, DAMAGED, "the input is longer than it should be");
    sha256_add(&g->sha, p, n);
    return ERR_OK;
}

static enum errc feed_file(struct stream_opener *o, int fd, struct err *e)
{
    CLEANUP(buf_releasep) struct buf room = BUF(READ_BYTES);
    buf_reserve(&room, READ_BYTES);
    for (;;) {
        ssize_t n = read(fd, room.ptr, READ_BYTES);
        if (n < 0)
            return FAIL(e, IO, "the input cannot be read");
        if (n == 0)
            return stream_opener_finish(o, e);
        TRY(stream_opener_feed(o, room.ptr, (size_t)n, e));
    }
}

enum errc child_open_sealed(int fd, const struct stream_ref *ref, const struct secret32 *key, int64_t size, const uint8_t *digest,
                            struct buf *ret, struct err *e)
{
    uint8_t got[SHA256_BYTES];
    CLEANUP(stream_opener_freep) struct stream_opener *o = NULL;
    struct gathered g = { .b = ret };
    *ret = BUF((size_t)size + 1);
    (void)buf_reserve(ret, (size_t)size);       /* at once, so that nothing is moved on the way */
    TRY(stream_opener_new(key, ref, into_gathered, &g, &o, e));
    sha256_init(&g.sha);
    enum errc rc = feed_file(o, fd, e);
    sha256_final(&g.sha, got);
    TRY(rc);
    return digest && memcmp(got, digest, sizeof got) != 0 ? FAIL(e, DAMAGED, "the content is not what was stored") : ERR_OK;
}

enum errc child_open_input(struct child *c, size_t i, struct buf *ret, struct err *e)
{
    struct child_input *in = &c->inputs[i];
    const struct lease_input *about = &in->about;
    const struct stream_ref ref = { lease_input_owner(about, c->grant.lease.tenant_id), about->kind, about->object_id,
                                    (uint32_t)about->version, in->key.dek_id };
    uint8_t expected[SHA256_BYTES];
    if (about->sha256.len && !hex_decode(about->sha256, expected, sizeof expected))
        return FAIL(e, DAMAGED, "input %.*s came with a digest that is none", STR_ARG(about->name));
    enum errc rc = child_open_sealed(in->fd, &ref, &in->key.key, about->size_bytes, about->sha256.len ? expected : NULL, ret, e);
    secret_wipe(&in->key, sizeof in->key);
    fd_closep(&in->fd);
    return rc;
}

/* A file that is written, and the digest of what is. */
struct digested {
    int fd;
    struct sha256 sha;
};

enum errc child_write(void *ctx, const void *p, size_t n, struct err *e)
{
    for (const char *at = p; n;) {
        ssize_t w = write(*(int *)ctx, at, n);
        if (w <= 0)
            return FAIL(e, IO, "a file of the lease cannot be written");
        at += w;
        n -= (size_t)w;
    }
    return ERR_OK;
}

static enum errc into_digested(void *ctx, const void *p, size_t n, struct err *e)
{
    struct digested *d = ctx;
    sha256_add(&d->sha, p, n);
    return child_write(&d->fd, p, n, e);
}

static enum errc open_to(const struct child *c, const struct child_input *in, struct digested *d, struct err *e)
{
    const struct lease_input *about = &in->about;
    const struct stream_ref ref = { lease_input_owner(about, c->grant.lease.tenant_id), about->kind, about->object_id,
                                    (uint32_t)about->version, in->key.dek_id };
    CLEANUP(stream_opener_freep) struct stream_opener *o = NULL;
    TRY(stream_opener_new(&in->key.key, &ref, into_digested, d, &o, e));
    return feed_file(o, in->fd, e);
}

enum errc child_open_input_to(struct child *c, size_t i, int to, struct err *e)
{
    struct child_input *in = &c->inputs[i];
    struct digested d = { .fd = to };
    uint8_t expected[SHA256_BYTES], got[SHA256_BYTES];
    sha256_init(&d.sha);
    enum errc rc = open_to(c, in, &d, e);
    sha256_final(&d.sha, got);
    secret_wipe(&in->key, sizeof in->key);
    fd_closep(&in->fd);
    TRY(rc);
    if (!hex_decode(in->about.sha256, expected, sizeof expected) || memcmp(got, expected, sizeof got) != 0)
        return FAIL(e, DAMAGED, "input %.*s is not what was stored", STR_ARG(in->about.name));
    return ERR_OK;
}

enum errc child_take_place(struct child *c, struct str kind, int *fd, struct stream_sealer **ret, struct err *e)
{
    char *room = arena_alloc(c->arena, FRAME_MAX);
    struct frame f = { 0 };
    struct frame_output out;
    const bool brings_file = *fd < 0;
    TRY(frame_receive(FRAME_FD, room, &f, e));
    if (f.type != FRAME_OUTPUT || f.body.len != sizeof out || (brings_file && f.nfds != 1)) {
        frame_close_fds(&f);
        return FAIL(e, UNAVAILABLE, "the agent got no place for the output");
    }
    if (brings_file)
        *fd = f.fds[0];
    else
        frame_close_fds(&f);
    memcpy(&out, f.body.ptr, sizeof out);
    secret_wipe(room, FRAME_MAX);
    const struct stream_ref ref = { out.tenant_id, kind, out.object_id, out.version, out.dek_id };
    enum errc rc = stream_sealer_new(&out.key, &ref, child_write, fd, ret, e);
    secret_wipe(&out, sizeof out);
    return rc;
}

enum errc child_deliver(struct child *c, struct str plain, struct str result_json, struct err *e)
{
    struct frame_result r = { .plain_size = (int64_t)plain.len };
    CLEANUP(stream_sealer_freep) struct stream_sealer *s = NULL;
    sha256(plain.ptr, plain.len, r.sha256);
    TRY(frame_send(FRAME_FD, FRAME_WANT, STR_NULL, str_n((const char *)&r.plain_size, sizeof r.plain_size), NULL, 0, true, e));
    TRY(child_take_place(c, STR("model"), &c->output_fd, &s, e));
    TRY(stream_sealer_feed(s, plain.ptr, plain.len, e));
    TRY(stream_sealer_finish(s, e));
    child_log(c, "info: model sealed: %zu bytes", plain.len);
    return frame_send(FRAME_FD, FRAME_RESULT, str_n((const char *)&r, sizeof r), result_json, NULL, 0, true, e);
}

static enum errc take_inputs(struct child *c, const struct frame *f, struct err *e)
{
    const struct slice *list = &c->grant.lease.inputs;
    bool listens = job_listens(c->grant.lease.kind) || lease_grant_is_gang(&c->grant.lease);
    size_t files = lease_grant_files(&c->grant.lease);
    if (list->n > CHILD_INPUTS_MAX || f->nfds != files + 1 + listens + c->grant.keeps_checkpoints
        + c->grant.has_door)
        return FAIL(e, INVALID, "the grant's descriptors do not fit its inputs");
    c->n_inputs = list->n;
    c->output_fd = f->fds[0];
    c->listener = listens ? f->fds[files + 1] : -1;
    c->keeper = c->grant.keeps_checkpoints ? f->fds[files + 1 + listens] : -1;
    c->door = c->grant.has_door ? f->fds[f->nfds - 1] : -1;
    for (size_t i = 0; i < c->n_inputs; i++)
        c->inputs[i] = (struct child_input){ .about = ((const struct lease_input *)list->items)[i],
                                            .fd = i < files ? f->fds[i + 1] : -1 };
    return ERR_OK;
}

static enum errc read_grant(struct child *c, struct err *e)
{
    char *room = arena_alloc(c->arena, FRAME_MAX);
    struct frame f = { 0 };
    TRY(frame_receive(FRAME_FD, room, &f, e));
    if (f.type != FRAME_GRANT)
        return FAIL(e, INVALID, "the first message is not a grant");
    TRY(json_decode(&child_grant_schema, f.body, c->arena, &c->grant, e));
    TRY(take_inputs(c, &f, e));
    TRY(frame_receive(FRAME_FD, room, &f, e));
    if (f.type != FRAME_KEYS || f.body.len != c->n_inputs * sizeof(struct release_key))
        return FAIL(e, INVALID, "the keys do not fit the inputs");
    for (size_t i = 0; i < c->n_inputs; i++)
        memcpy(&c->inputs[i].key, f.body.ptr + i * sizeof(struct release_key), sizeof(struct release_key));
    secret_wipe(room, FRAME_MAX);
    return ERR_OK;
}

static enum errc enter_sandbox(struct child *c, struct err *e)
{
    const struct child_grant *g = &c->grant;
    /* A driver reserves addresses as large as the card, which would count as data. */
    const struct sandbox s = { .memory_bytes = g->gpu_nodes ? 0 : g->data_limit, .gpu_nodes = (uint64_t)g->gpu_nodes,
                               .library = g->cublaslt.ptr, .engine = child_engine_path(c),
                               .files = c->listener >= 0 ? SERVE_FILES : CHILD_FILES,
                               .uid = g->uid, .gid = g->gid, .parent = (int)g->parent };
    return sandbox_enter(&s, e);
}

/* A lease that has a card computes on it; where this program or the machine cannot, its log says so. The self-test opens a
 * first context before the sandbox closes; those of the run are opened inside, by the device nodes that it leaves. */
static enum errc choose_backend(struct child *c, struct err *e)
{
    const char *asked = c->grant.backend.ptr;
    bool has_cards = c->grant.gpu_nodes != 0;
    if (has_cards && (!*asked || !strcmp(asked, "auto")) && backend_cuda.probe(&c->hw))
        return backend_choose("cuda", &c->hw, NULL, NULL, &c->backend, e);
    TRY(backend_choose(asked, &c->hw, NULL, NULL, &c->backend, e));
    if (has_cards && !(c->backend->properties & BE_DEVICE))
        child_log(c, "warning: this lease has a GPU, but %s; computing on the processor (%s)", *asked && strcmp(asked, "auto")
                  ? "the machine's settings name another backend" : "no driver shows it to this program", c->backend->name);
    return ERR_OK;
}

static enum errc run(struct child *c, struct err *e)
{
    TRY(read_grant(c, e));
    if (chdir(c->grant.work_dir.ptr) != 0)
        return FAIL(e, IO, "the work directory is gone");
    hw_read(&c->hw);
    const struct work_type *type = work_type_of(c->grant.lease.kind);
    if (type->starts_programs)
        return type->run(c, e);
    TRY(choose_backend(c, e));
    if (type->takes_engine)
        child_engine_find(c);
    TRY(enter_sandbox(c, e));
    TRY(pool_new(c->hw.cores, &c->pool, e));
    enum errc rc = type->run(c, e);
    child_engine_close(c);
    pool_free(c->pool);
    return rc;
}

int child_main(void)
{
    struct sigaction sa = { .sa_handler = on_term };
    sigaction(SIGTERM, &sa, NULL);
    signal(SIGPIPE, SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    struct child c = { .arena = arena_new((size_t)1 << 44), .output_fd = -1, .listener = -1, .keeper = -1,
                       .door = -1, .stop = &stop_asked };
    struct err e = { 0 };
    enum errc rc = run(&c, &e);
    for (size_t i = 0; i < c.n_inputs; i++)
        secret_wipe(&c.inputs[i].key, sizeof c.inputs[i].key);
    if (rc == ERR_OK)
        return CHILD_DONE;
    if (rc == ERR_RETRY)
        return CHILD_STOPPED;
    char text[LINE_MAX_BYTES];
    int n = snprintf(text, sizeof text, "%s%s%s", e.msg, e.field[0] ? " at " : "", e.field);
    return frame_send(FRAME_FD, FRAME_FAILED, STR_NULL, str_n(text, (size_t)n), NULL, 0, true, NULL) == ERR_OK ? c.exit_code : CHILD_LOST;
}
