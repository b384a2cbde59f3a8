/* SPDX-License-Identifier: Apache-2.0 */
/* client_conn.c - the transport of the keyd client: a few kept connections per zone, and one retry rule.
 *
 * A kept connection may have died with its keyd, so failing on one is not an answer: it is dropped and the call made again on a
 * new one. All verbs may be repeated. A new connection that breaks is tried ATTEMPTS times, then the zone is UNAVAILABLE. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "keys/client_int.h"

enum { IDLE_MAX = 8, ZONES_MAX = 64, ATTEMPTS = 3, PAUSE_MS = 5 };

struct keyd_zone {
    char name[KEY_ZONE_MAX + 1];
    struct sockaddr_un address;
    pthread_mutex_t lock;
    int idle[IDLE_MAX];
    int n_idle;
};

static enum errc zone_parse(struct keyd_zone *z, struct str one, struct err *e)
{
    struct str name, path;
    if (!str_cut(one, '=', &name, &path) || name.len == 0 || name.len > KEY_ZONE_MAX || path.len == 0
        || path.len >= sizeof z->address.sun_path)
        return FAIL(e, INVALID, "the key services must read zone=socket,…, not \"%.*s\"", STR_ARG(one));
    snprintf(z->name, sizeof z->name, "%.*s", STR_ARG(name));
    z->address.sun_family = AF_UNIX;
    memcpy(z->address.sun_path, path.ptr, path.len);
    return ERR_OK;
}

enum errc keyd_zones_parse(struct keyd_client *c, struct str zones, struct err *e)
{
    struct str rest = zones, one;
    struct keyd_zone *found;
    c->zones = calloc(ZONES_MAX, sizeof *c->zones);
    if (!c->zones)
        return FAIL(e, LIMIT, "no memory for the key services");
    for (bool more = rest.len > 0; more;) {
        more = str_cut(rest, ',', &one, &rest);
        one = str_trim(one);
        if (c->n_zones == ZONES_MAX)
            return FAIL(e, INVALID, "at most %d key services are known", ZONES_MAX);
        struct keyd_zone *z = &c->zones[c->n_zones];
        TRY(zone_parse(z, one, e));
        if (keyd_zone_find(c, str_c(z->name), &found, NULL) == ERR_OK)
            return FAIL(e, INVALID, "the key service of zone %s is named twice", z->name);
        pthread_mutex_init(&z->lock, NULL);
        c->n_zones++;
    }
    return ERR_OK;
}

static void drop_idle(struct keyd_zone *z)
{
    pthread_mutex_lock(&z->lock);
    while (z->n_idle > 0)
        close(z->idle[--z->n_idle]);
    pthread_mutex_unlock(&z->lock);
}

void keyd_zones_free(struct keyd_client *c)
{
    for (size_t i = 0; i < c->n_zones; i++) {
        drop_idle(&c->zones[i]);
        pthread_mutex_destroy(&c->zones[i].lock);
    }
    free(c->zones);
}

enum errc keyd_zone_find(const struct keyd_client *c, struct str zone, struct keyd_zone **ret, struct err *e)
{
    for (size_t i = 0; i < c->n_zones; i++) {
        if (str_eq_c(zone, c->zones[i].name)) {
            *ret = &c->zones[i];
            return ERR_OK;
        }
    }
    return FAIL(e, UNAVAILABLE, "no key service is configured for zone %.*s", STR_ARG(zone));
}

size_t keyd_client_zones(const struct keyd_client *c)
{
    return c ? c->n_zones : 0;
}

const char *keyd_client_zone(const struct keyd_client *c, size_t i)
{
    return i < c->n_zones ? c->zones[i].name : "";
}

static int idle_take(struct keyd_zone *z)
{
    pthread_mutex_lock(&z->lock);
    int fd = z->n_idle > 0 ? z->idle[--z->n_idle] : -1;
    pthread_mutex_unlock(&z->lock);
    return fd;
}

static void idle_give(struct keyd_zone *z, int fd)
{
    pthread_mutex_lock(&z->lock);
    if (z->n_idle < IDLE_MAX) {
        z->idle[z->n_idle++] = fd;
        fd = -1;
    }
    pthread_mutex_unlock(&z->lock);
    if (fd >= 0)
        close(fd);
}

/* A full listen queue answers EAGAIN on a Unix socket: wait a little, by the deadline. */
static enum errc zone_connect(const struct keyd_zone *z, int64_t deadline_us, int *ret, struct err *e)
{
    CLEANUP(fd_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int rc = -1;
    while (fd >= 0 && (rc = connect(fd, (const struct sockaddr *)&z->address, sizeof z->address)) != 0
           && (errno == EAGAIN || errno == EINTR) && wire_now_us() < deadline_us)
        poll(NULL, 0, PAUSE_MS);
    if (rc != 0) {
        int saved = errno;
        (void)FAIL(e, UNAVAILABLE, "the key service of zone %s does not answer", z->name);
        (void)err_errno(e, saved);
        return ERR_UNAVAILABLE;
    }
    *ret = TAKE_FD(fd);
    return ERR_OK;
}

/* A send that breaks may still have an answer waiting: keyd refuses strangers without reading. */
static enum wire_io exchange(int fd, const struct buf *request, struct buf *reply, int64_t deadline_us)
{
    enum wire_io io = wire_send(fd, request, deadline_us);
    if (io == WIRE_LATE)
        return io;
    int64_t left_us = deadline_us - wire_now_us();
    return wire_receive(fd, reply, deadline_us, left_us > 0 ? left_us : 1);
}

static enum errc reply_read(const struct keyd_zone *z, const struct buf *reply, struct wire_in *in, struct err *e)
{
    uint8_t kind;
    if (!wire_open(in, reply->ptr, reply->len, &kind) || (kind != KEYD_DONE && kind != KEYD_REFUSED))
        return FAIL(e, UNAVAILABLE, "the key service of zone %s speaks another version", z->name);
    if (kind == KEYD_DONE)
        return ERR_OK;
    char wire[64] = "";
    struct str code = wire_text(in), msg = wire_text(in);
    snprintf(wire, sizeof wire, "%.*s", STR_ARG(code));
    enum errc rc = err_by_wire(wire);
    if (in->bad || rc == ERR_COUNT || rc == ERR_OK)
        return FAIL(e, UNAVAILABLE, "the key service of zone %s gave an unknown answer", z->name);
    return err_set(e, rc, __FILE__, __LINE__, "%.*s", STR_ARG(msg));
}

enum errc keyd_call(const struct keyd_client *c, struct str zone, struct buf *request, struct buf *reply, struct wire_in *in,
                    struct err *e)
{
    struct keyd_zone *z = NULL;
    int64_t deadline_us = wire_now_us() + c->timeout_us;
    TRY(keyd_zone_find(c, zone, &z, e));
    if (!wire_end(request) || !buf_reserve(reply, KEYD_REPLY_MAX))
        return FAIL(e, LIMIT, "the request to the key service is too long");
    for (int attempt = 0; attempt < ATTEMPTS;) {
        int fd = idle_take(z);
        bool is_kept = fd >= 0;
        if (!is_kept)
            TRY(zone_connect(z, deadline_us, &fd, e));
        enum wire_io io = exchange(fd, request, reply, deadline_us);
        if (io == WIRE_OK) {
            enum errc rc = reply_read(z, reply, in, e);
            if (rc == ERR_FORBIDDEN || rc == ERR_UNAVAILABLE)
                close(fd);
            else
                idle_give(z, fd);
            return rc;
        }
        close(fd);
        if (io == WIRE_LATE)
            return FAIL(e, DEADLINE, "the key service of zone %s did not answer in time", z->name);
        if (is_kept)
            drop_idle(z);
        else if (++attempt < ATTEMPTS)
            poll(NULL, 0, PAUSE_MS);
    }
    return FAIL(e, UNAVAILABLE, "the key service of zone %s breaks the connection", z->name);
}

void keyd_reply_wipe(struct buf *b)
{
    if (b->ptr)
        secret_wipe(b->ptr, b->cap);
    buf_release(b);
}

enum errc keyd_reply_done(const struct wire_in *in, struct err *e)
{
    return wire_done(in) ? ERR_OK : FAIL(e, UNAVAILABLE, "the key service gave a reply that is not well formed");
}

enum errc keyd_call_blob(const struct keyd_client *c, struct str zone, struct buf *request, struct key_blob *ret,
                         uint32_t *ret_version, struct err *e)
{
    struct wire_in in;
    struct key_blob blob;
    REPLY(reply);
    TRY(keyd_call(c, zone, request, &reply, &in, e));
    wire_blob(&in, &blob);
    uint32_t version = ret_version ? wire_u32(&in) : 0;
    TRY(keyd_reply_done(&in, e));
    *ret = blob;
    if (ret_version)
        *ret_version = version;
    return ERR_OK;
}
