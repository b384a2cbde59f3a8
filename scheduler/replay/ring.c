/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c - the folder is read once; from then on the ring knows its files by number and size, oldest first. */
#include "scheduler/replay/ring.h"
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/base/thread.h"
#include "core/table/metrics.h"
#include "scheduler/plan/askset.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { WAITING_MAX = 4, NAME_BYTES = 64, PERSON_ONLY = 0600 };

struct kept { int64_t number, bytes; char name[NAME_BYTES]; };

struct cycle_ring {
    int dir;
    struct recorder *recorder;
    int64_t number;                     /* of the next cycle; the planner's thread */
    bool is_begun;
    int64_t made_at_us;
    struct thread_pool *writer;
    /* the writer's */
    struct kept *files;                 /* a ring: [first, first + n) modulo files_max + 1 */
    size_t first, n, cap;
    int64_t bytes, bytes_max;
    bool has_failed;                    /* told already */
};

/* A cycle on its way to the writer. */
struct parcel { struct buf b; int64_t number; char name[NAME_BYTES]; };

static bool number_of(const char *name, int64_t *ret)
{
    struct str head, rest, s = str_c(name);
    return str_starts(s, "cycle-") && str_ends(s, ".falaj") && s.len < NAME_BYTES &&
           str_cut(str_n(s.ptr + 6, s.len - 6), '-', &head, &rest) && head.len == 12 && str_to_i64(head, 0, INT64_MAX - 1, ret);
}

static int by_number(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void drop_oldest(struct cycle_ring *r)
{
    const struct kept *k = &r->files[r->first];
    (void)unlinkat(r->dir, k->name, 0);         /* gone already is as good */
    r->bytes -= k->bytes;
    r->first = (r->first + 1) % r->cap;
    r->n--;
}

static void make_room(struct cycle_ring *r, int64_t more)
{
    while (r->n && (r->n + (more > 0) >= r->cap || r->bytes + more > r->bytes_max))
        drop_oldest(r);
}

/* The folder may hold more than it should: limits may have been lowered. */
static enum errc read_folder(struct cycle_ring *r, struct err *e)
{
    size_t n = 0, cap = 1024;
    struct kept *found = list_alloc(NULL, cap, sizeof *found);
    const int fd = dup(r->dir);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *x = d ? readdir(d) : NULL; x; x = readdir(d)) {
        struct stat st;
        if (str_ends(str_c(x->d_name), ".falaj.new"))
            (void)unlinkat(r->dir, x->d_name, 0);       /* of a writer that was ended */
        if (!number_of(x->d_name, &found[n].number) || fstatat(r->dir, x->d_name, &st,
            AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        found[n].bytes = st.st_size;
        memcpy(found[n].name, x->d_name, strlen(x->d_name) + 1);       /* number_of has looked at its length */
        if (++n == cap)
            found = list_alloc(found, cap *= 2, sizeof *found);
    }
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
    qsort(found, n, sizeof *found, by_number);
    for (size_t i = 0; i < n; i++) {
        while (r->n + 1 >= r->cap)
            drop_oldest(r);
        r->files[(r->first + r->n++) % r->cap] = found[i];
        r->bytes += found[i].bytes;
        r->number = found[i].number + 1;
    }
    free(found);
    make_room(r, 0);
    return d ? ERR_OK : FAIL(e, INVALID, "scheduler.cycles_dir: the folder cannot be read: %s", strerror(errno));
}

static bool write_all(int fd, const char *p, size_t n)
{
    while (n) {
        const ssize_t k = write(fd, p, n);
        if (k < 0 && errno != EINTR)
            return false;
        p += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
    return true;
}

static bool write_file(const struct cycle_ring *r, const struct parcel *p)
{
    char temp[NAME_BYTES + 8];
    snprintf(temp, sizeof temp, "%s.new", p->name);
    const int fd = openat(r->dir, temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, PERSON_ONLY);
    bool ok = fd >= 0 && write_all(fd, p->b.ptr, p->b.len);
    if (fd >= 0)
        ok &= close(fd) == 0;
    ok = ok && renameat(r->dir, temp, r->dir, p->name) == 0;
    if (!ok && fd >= 0) {
        const int why = errno;
        (void)unlinkat(r->dir, temp, 0);
        errno = why;
    }
    return ok;
}

static void write_one(void *ctx, void *item)
{
    struct cycle_ring *r = ctx;
    struct parcel *p = item;
    const int64_t bytes = (int64_t)p->b.len;
    bool ok = bytes <= r->bytes_max;
    if (ok) {
        make_room(r, bytes);
        tables_seal(p->b.ptr, p->b.len, FILE_HEAD);
        ok = write_file(r, p);
        if (!ok && !r->has_failed)
            log_event(LOG_WARN, "scheduler.cycle_lost", "file", LOG_S(p->name), "why", LOG_S(strerror(errno)), NULL);
        r->has_failed = !ok;
    }
    if (ok) {
        struct kept *k = &r->files[(r->first + r->n++) % r->cap];
        *k = (struct kept){ .number = p->number, .bytes = bytes };
        memcpy(k->name, p->name, NAME_BYTES);
        r->bytes += bytes;
    }
    metrics_inc(M_scheduler_cycles_total, ok ? "kept" : "lost");
    buf_release(&p->b);
    free(p);
}

enum errc cycle_ring_new(const struct cycle_ring_opts *o, struct cycle_ring **ret, struct err *e)
{
    struct cycle_ring *r = calloc(1, sizeof *r);
    ASSERT(r && o->files_max > 0);
    r->bytes_max = o->bytes_max;
    r->cap = (size_t)o->files_max + 1;
    r->number = 1;
    r->files = calloc(r->cap, sizeof *r->files);
    ASSERT(r->files);
    (void)mkdir(o->dir, 0700);                  /* what is wrong with it is told when it is opened */
    r->dir = open(o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->dir < 0 || faccessat(r->dir, ".", W_OK | X_OK, 0) != 0 || read_folder(r, e) != ERR_OK) {
        FAIL(e, INVALID, "scheduler.cycles_dir: %s is no folder that can be written to: %s", o->dir, strerror(errno));
        cycle_ring_free(r);
        return e->code;
    }
    r->recorder = recorder_new((size_t)o->bytes_max);
    r->writer = thread_pool_new("cycles", 1, WAITING_MAX, write_one, r);
    *ret = r;
    return ERR_OK;
}

void cycle_ring_free(struct cycle_ring *r)
{
    if (!r)
        return;
    if (r->writer)
        thread_pool_free(r->writer);
    recorder_free(r->recorder);
    if (r->dir >= 0)
        close(r->dir);
    free(r->files);
    free(r);
}

void cycle_ring_inputs(struct cycle_ring *r, enum cycle_kind kind, int64_t batch, int64_t made_at_us, const struct snapshot *s,
                       struct arena *a)
{
    if (!r)
        return;
    const struct cycle_head head = { .number = r->number, .made_at_us = made_at_us, .kind = (int)kind, .batch = batch,
                                     .version = STR(FALAJ_VERSION) };
    r->made_at_us = made_at_us;
    record_inputs(r->recorder, &head, s, a);
    r->is_begun = true;
}

void cycle_ring_plan(struct cycle_ring *r, const struct snapshot *s, const struct plan *p, struct arena *a)
{
    if (r && r->is_begun)
        record_plan(r->recorder, s, p, a);
}

void cycle_ring_holders(struct cycle_ring *r, struct holders h, int64_t now_us)
{
    if (r && r->is_begun)
        record_holders(r->recorder, h, now_us);
}

void cycle_ring_choice(struct cycle_ring *r, const struct snapshot *s, const struct plan *p, struct holders h,
                       const struct preemption *x, const struct claims *claims, struct arena *a)
{
    if (r && r->is_begun)
        record_evictions(r->recorder, s, p, h, x, claims, a);
}

/* "2026-11-27T02:03:04.005Z" without what a file's name had better not have. */
static void name_it(struct parcel *p, int64_t made_at_us)
{
    char text[TIME_TEXT], plain[TIME_TEXT];
    size_t n = 0;
    time_text(made_at_us, text);
    for (const char *c = text; *c; c++)
        if (*c != '-' && *c != ':')
            plain[n++] = *c;
    plain[n] = 0;
    snprintf(p->name, sizeof p->name, CYCLE_NAME, (long)p->number, plain);
}

static struct parcel *parcel_new(struct cycle_ring *r)
{
    struct parcel *p = calloc(1, sizeof *p);
    ASSERT(p);
    p->b = record_take(r->recorder);
    p->number = r->number++;
    name_it(p, r->made_at_us);
    return p;
}

void cycle_ring_keep(struct cycle_ring *r)
{
    if (!r || !r->is_begun)
        return;
    struct parcel *p = parcel_new(r);
    r->is_begun = false;
    if (p->b.len && thread_pool_submit(r->writer, p))
        return;
    metrics_inc(M_scheduler_cycles_total, "lost");
    buf_release(&p->b);
    free(p);
}
