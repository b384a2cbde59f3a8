/* SPDX-License-Identifier: Apache-2.0 */
/* image_cache.c - a short list under one lock, which nothing slow is done under: copies are made outside of it. Room for them is
 * made before, so that leases that begin at once do not take the memory several times. */
#include "workers/lease/image_cache.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"
#include "core/json/jsonvalue.h"
#include "core/wire/type_run.h"

struct entry {
    uint8_t key[SHA256_BYTES];
    int fd;
    int64_t bytes, used_us, allowed_us; /* allowed_us: when its key was released, or would have been */
    struct lease_kept about;            /* the lease it was unpacked for */
};

struct image_cache {
    const struct clock *clock;
    int64_t most, age_us;
    pthread_mutex_t lock;               /* of all below */
    struct entry entries[IMAGE_CACHE_ENTRIES];
    size_t n;
    int64_t bytes;                      /* of the entries, and of copies that are being made */
};

struct image_cache *image_cache_new(int64_t bytes, int64_t age_ms, const struct clock *clock)
{
    struct image_cache *c = calloc(1, sizeof *c);
    ASSERT(c);
    *c = (struct image_cache){ .clock = clock, .most = bytes, .age_us = age_ms * 1000 };
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

static struct entry *find(struct image_cache *c, const uint8_t key[SHA256_BYTES])
{
    for (size_t i = 0; i < c->n; i++)
        if (!memcmp(c->entries[i].key, key, SHA256_BYTES))
            return &c->entries[i];
    return NULL;
}

static void drop(struct image_cache *c, size_t i)
{
    close(c->entries[i].fd);
    c->bytes -= c->entries[i].bytes;
    c->entries[i] = c->entries[--c->n];
}

void image_cache_free(struct image_cache *c)
{
    if (!c)
        return;
    while (c->n)
        drop(c, c->n - 1);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static const struct lease_input *image_of(const struct lease_grant *g)
{
    const struct lease_input *in = g->inputs.items;
    for (size_t i = 0; i < lease_grant_files(g); i++)
        if (str_eq_c(in[i].name, RUN_IMAGE_INPUT) && in[i].sha256.len)
            return &in[i];
    return NULL;
}

/* Tenant, archive, and which image of it: an environment without a digest means the only one. */
static bool key_of(const struct lease_grant *g, uint8_t ret[SHA256_BYTES])
{
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)4 << 20);
    const struct lease_input *in = image_of(g);
    const struct jval *spec;
    struct run_environment env;
    struct sha256 s;
    if (!in || jval_parse(a, g->spec.text, 8, &spec, NULL) != ERR_OK ||
        !run_environment(jval_str(jval_get(spec, "environment")), &env))
        return false;
    sha256_init(&s);
    sha256_add(&s, g->tenant_id.b, sizeof g->tenant_id.b);
    sha256_add(&s, in->sha256.ptr, in->sha256.len);
    sha256_add(&s, env.digest.ptr, env.digest.len);
    sha256_final(&s, ret);
    return true;
}

int image_cache_take(struct image_cache *c, const struct lease_grant *g)
{
    uint8_t key[SHA256_BYTES];
    int fd = -1;
    if (!c || !c->most || !key_of(g, key))
        return -1;
    pthread_mutex_lock(&c->lock);
    struct entry *e = find(c, key);
    if (e) {
        fd = fcntl(e->fd, F_DUPFD_CLOEXEC, 0);
        e->used_us = clock_mono_us(c->clock);
    }
    pthread_mutex_unlock(&c->lock);
    return fd;
}

int64_t image_cache_most(const struct image_cache *c, const struct lease_grant *g)
{
    return c && image_of(g) ? c->most : 0;
}

static bool copy(int from, int to, int64_t bytes)
{
    char room[1 << 16];
    for (off_t at = 0; at < bytes;) {
        const ssize_t n = pread(from, room, sizeof room, at);
        if (n <= 0 || write(to, room, (size_t)n) != n)
            return false;
        at += n;
    }
    return true;
}

static void drop_oldest(struct image_cache *c)
{
    size_t oldest = 0;
    for (size_t i = 1; i < c->n; i++)
        if (c->entries[i].used_us < c->entries[oldest].used_us)
            oldest = i;
    drop(c, oldest);
}

/* Those that were used least lately make room; false: copies that are being made take it. *ret_has: it is here already. */
static bool reserve(struct image_cache *c, const struct entry *e, bool *ret_has)
{
    pthread_mutex_lock(&c->lock);
    struct entry *same = find(c, e->key);
    *ret_has = same != NULL;
    if (same)
        same->used_us = clock_mono_us(c->clock);
    while (!same && c->n && c->bytes + e->bytes > c->most)
        drop_oldest(c);
    const bool ok = !same && c->bytes + e->bytes <= c->most;
    if (ok)
        c->bytes += e->bytes;
    pthread_mutex_unlock(&c->lock);
    return ok;
}

/* What was reserved for; fd -1: the copy was not made. */
static void enter(struct image_cache *c, struct entry *e)
{
    pthread_mutex_lock(&c->lock);
    if (e->fd < 0 || find(c, e->key)) {         /* a lease that began with this one was faster */
        c->bytes -= e->bytes;
        fd_closep(&e->fd);
    } else {
        if (c->n == IMAGE_CACHE_ENTRIES)
            drop_oldest(c);
        e->used_us = e->allowed_us = clock_mono_us(c->clock);
        c->entries[c->n++] = *e;
    }
    pthread_mutex_unlock(&c->lock);
}

static int sealed_copy(int fd, int64_t bytes)
{
    int made = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made >= 0 && (!copy(fd, made, bytes) ||
                      fcntl(made, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0))
        fd_closep(&made);
    return made;
}

bool image_cache_put(struct image_cache *c, const struct lease_grant *g, int fd)
{
    struct stat st;
    struct entry e = { .fd = -1 };
    bool has;
    if (!c || fstat(fd, &st) != 0 || st.st_size <= 0 || st.st_size > c->most || !key_of(g, e.key))
        return false;
    e.bytes = st.st_size;
    e.about = (struct lease_kept){ g->tenant_id, g->job_id, image_of(g)->object_id };
    if (!reserve(c, &e, &has))
        return has;
    e.fd = sealed_copy(fd, e.bytes);
    const bool is_made = e.fd >= 0;
    enter(c, &e);
    return is_made;
}

size_t image_cache_held(struct image_cache *c, struct lease_kept *ret)
{
    if (!c)
        return 0;
    pthread_mutex_lock(&c->lock);
    const size_t n = c->n;
    for (size_t i = 0; i < n; i++)
        ret[i] = c->entries[i].about;
    pthread_mutex_unlock(&c->lock);
    return n;
}

static bool is_among(const struct lease_kept *k, const struct lease_kept *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (uuid_eq(k->tenant_id, list[i].tenant_id) && uuid_eq(k->job_id, list[i].job_id) &&
            uuid_eq(k->object_id, list[i].object_id))
            return true;
    return false;
}

size_t image_cache_judged(struct image_cache *c, int64_t asked_us, const struct lease_kept *asked, size_t n_asked,
                          const struct lease_kept *may, size_t n_may)
{
    size_t gone = 0;
    pthread_mutex_lock(&c->lock);
    for (size_t i = c->n; i-- > 0;) {
        struct entry *e = &c->entries[i];
        if (!is_among(&e->about, asked, n_asked))
            continue;                   /* it came meanwhile */
        if (is_among(&e->about, may, n_may)) {
            e->allowed_us = e->allowed_us > asked_us ? e->allowed_us : asked_us;
            continue;
        }
        drop(c, i);
        gone++;
    }
    pthread_mutex_unlock(&c->lock);
    return gone;
}

size_t image_cache_sweep(struct image_cache *c)
{
    size_t untold = 0;
    if (!c)
        return 0;
    pthread_mutex_lock(&c->lock);
    const int64_t now_us = clock_mono_us(c->clock);
    for (size_t i = c->n; i-- > 0;) {
        const bool is_untold = c->entries[i].allowed_us < now_us - IMAGE_CACHE_WORD_US;
        if (!is_untold && c->entries[i].used_us >= now_us - c->age_us)
            continue;
        drop(c, i);
        untold += is_untold;
    }
    pthread_mutex_unlock(&c->lock);
    return untold;
}
