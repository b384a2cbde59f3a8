/* SPDX-License-Identifier: Apache-2.0 */
/* cert_watch.c - certificates that are replaced on disk, and those that end soon. */
#include "core/http/cert_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/crypto/x509.h"
#include "core/table/metrics.h"

enum { PEM_MAX = 1 << 20, ARENA = 8 << 20 };
static const int64_t DAY_US = INT64_C(86400) * 1000000;

/* What makes a file another one. */
struct mark {
    dev_t dev;
    ino_t ino;
    off_t size;
    struct timespec changed;
};

struct watched {
    const char *name, *cert_file, *key_file;
    struct http_server *server;
    struct mark cert, key;              /* of what is in use, or was told to be bad */
    bool is_seen, is_told;              /* looked at before; its last pair, which does not fit, was told of */
    int64_t not_after_us, warn_from_us, warned_us;
};

struct cert_watch {
    struct watched list[CERT_WATCH_MAX];
    size_t n;
};

static struct mark mark_of(const char *path)
{
    struct stat st;
    if (!path || stat(path, &st) != 0)
        return (struct mark){ 0 };
    return (struct mark){ st.st_dev, st.st_ino, st.st_size, st.st_mtim };
}

static bool is_same(struct mark a, struct mark b)
{
    return a.dev == b.dev && a.ino == b.ino && a.size == b.size && a.changed.tv_sec == b.changed.tv_sec
        && a.changed.tv_nsec == b.changed.tv_nsec;
}

static enum errc read_file(struct arena *a, const char *path, struct str *ret, struct err *e)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return FAIL(e, IO, "%s cannot be opened: %s", path, strerror(errno));
    CLEANUP(buf_releasep) struct buf b = BUF(PEM_MAX);
    char chunk[4096];
    for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) != 0;)
        if (n < 0 || !buf_add(&b, chunk, (size_t)n))
            return FAIL(e, IO, "%s cannot be read: %s", path, n < 0 ? strerror(errno) : "it is larger than 1 MiB");
    *ret = str_dup(a, buf_str(&b));
    explicit_bzero(b.ptr, b.len);
    return ERR_OK;
}

static enum errc take_up(struct watched *c, bool is_first, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(ARENA);
    struct str cert, key = STR_NULL;
    struct x509_facts facts;
    enum errc rc = read_file(a, c->cert_file, &cert, e);
    if (rc == ERR_OK)
        rc = x509_read(a, cert, &facts, e);
    if (rc == ERR_OK && c->server && !is_first) {
        rc = read_file(a, c->key_file, &key, e);
        if (rc == ERR_OK)
            rc = http_server_renew_pair(c->server, cert, key, e);
        if (key.len)
            explicit_bzero((char *)(uintptr_t)key.ptr, key.len);
    }
    if (rc == ERR_OK) {
        int64_t quarter_us = (facts.not_after_us - facts.not_before_us) / 4, most_us = CERT_WARN_S * INT64_C(1000000);
        c->not_after_us = facts.not_after_us;
        c->warn_from_us = facts.not_after_us - (quarter_us < most_us ? quarter_us : most_us);
    }
    return rc;
}

static void warn_of_end(struct watched *c, int64_t now_us)
{
    int64_t left_us = c->not_after_us - now_us;
    if (!c->not_after_us || now_us < c->warn_from_us || (c->warned_us && now_us - c->warned_us < DAY_US))
        return;
    c->warned_us = now_us;
    log_event(LOG_WARN, left_us > 0 ? "certificate.ends_soon" : "certificate.ended", "name", LOG_S(c->name), "file",
        LOG_S(c->cert_file),
              "days_left", LOG_I(left_us / DAY_US), NULL);
}

struct cert_watch *cert_watch_new(void)
{
    struct cert_watch *w = calloc(1, sizeof *w);
    ASSERT(w);
    return w;
}

void cert_watch_add(struct cert_watch *w, const char *name, const char *cert_file, const char *key_file,
    struct http_server *server)
{
    ASSERT(w->n < CERT_WATCH_MAX && (!server || key_file));
    w->list[w->n++] = (struct watched){ .name = name, .cert_file = cert_file, .key_file = key_file, .server = server };
}

static int look_at(struct watched *c, int64_t now_us)
{
    struct mark cert = mark_of(c->cert_file), key = mark_of(c->key_file);
    bool is_first = !c->is_seen, is_other = !is_same(cert, c->cert) || !is_same(key, c->key);
    int given = 0;
    c->is_seen = true;
    if (is_first || is_other || c->is_told) {
        struct err e = { 0 };
        enum errc rc = take_up(c, is_first, &e);
        if (rc == ERR_OK) {
            given = c->server && !is_first;
            c->is_told = false;
            c->warned_us = 0;
            if (!is_first)
                log_event(LOG_INFO, "certificate.renewed", "name", LOG_S(c->name), "file", LOG_S(c->cert_file), NULL);
        } else if (!c->is_told || is_other) {
            log_err(LOG_ERROR, "certificate.refused", &e);
            c->is_told = true;
        }
        c->cert = cert;
        c->key = key;
    }
    metrics_set(M_certificate_not_after_seconds, (double)c->not_after_us / 1e6, c->name);
    warn_of_end(c, now_us);
    return given;
}

int cert_watch_look(struct cert_watch *w, int64_t now_us)
{
    int given = 0;
    for (size_t i = 0; i < w->n; i++)
        given += look_at(&w->list[i], now_us);
    return given;
}

void cert_watch_free(struct cert_watch *w)
{
    free(w);
}
