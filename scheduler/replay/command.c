/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - options, files and what is printed of them. */
#include "scheduler/replay/replay.h"
#include "core/base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { SAME = 0, OTHER = 1, BAD_INPUT = 2 };
#define MEMORY_MAX ((size_t)16 << 30)

static const char usage[] = "usage: falaj-scheduler replay [--print] FILE...\n";

static void unmap(void *bytes)
{
    const struct str *s = bytes;
    munmap((void *)(uintptr_t)s->ptr, s->len);
}

static enum errc map_file(const char *path, struct arena *a, struct str *ret, struct err *e)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return FAIL(e, INVALID, "%s: cannot be read: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return FAIL(e, INVALID, "%s: a file is expected", path);
    *ret = STR("");
    if (!st.st_size)
        return ERR_OK;
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return FAIL(e, INVALID, "%s: cannot be read: %s", path, strerror(errno));
    struct str *kept = ARENA_NEW(a, struct str);
    *kept = *ret = str_n(p, (size_t)st.st_size);
    arena_defer(a, unmap, kept);
    return ERR_OK;
}

static void print_devices(uint64_t devices)
{
    const char *before = " devices ";
    for (int i = 0; i < 64; i++)
        if (devices >> i & 1) {
            printf("%s%d", before, i);
            before = ",";
        }
}

static void print_on(struct uuid node, uint64_t devices, struct arena *a)
{
    printf(" on %.*s", STR_ARG(id_text(a, "nod", node)));
    print_devices(devices);
}

static void print_plan(const struct replay *r, struct arena *a)
{
    const struct place_row *p = r->was.places.items;
    const struct seat_row *seat = r->was.seats.items;
    const struct wait_row *w = r->was.waits.items;
    const struct eviction_row *x = r->was_choice.evictions.items;
    const struct making_row *m = r->was_choice.making.items;
    for (size_t i = 0; i < r->was.places.n; i++) {
        printf("placed %.*s", STR_ARG(id_text(a, "job", p[i].job_id)));
        print_on(p[i].node_id, p[i].devices, a);
        for (int64_t k = 0; k < p[i].more; k++, seat++)
            print_on(seat->node_id, seat->devices, a);
        putchar('\n');
    }
    for (size_t i = 0; i < r->was.waits.n; i++)
        printf("waits %.*s %.*s: %.*s\n", STR_ARG(id_text(a, "job", w[i].job_id)), STR_ARG(w[i].reason), STR_ARG(w[i].message));
    for (size_t i = 0; i < r->was_choice.making.n; i++)
        printf("room is being made for %.*s\n", STR_ARG(id_text(a, "job", m[i].job_id)));
    for (size_t i = 0; i < r->was_choice.evictions.n; i++)
        printf("leaves %.*s for %.*s\n", STR_ARG(id_text(a, "att", x[i].attempt_id)), STR_ARG(id_text(a, "job", x[i].job_id)));
}

static enum errc one_file(const char *path, bool prints, bool *ret_same, struct arena *a, struct err *e)
{
    struct str bytes;
    struct cycle c;
    struct replay r;
    char made[TIME_TEXT];
    TRY(map_file(path, a, &bytes, e));
    TRY(record_read(str_c(path), bytes, a, &c, e));
    const size_t njobs = c.s.jobs.n, nnodes = c.s.nodes.n;
    TRY(replay_run(str_c(path), &c, a, &r, e));
    time_text(c.head.made_at_us, made);
    printf("%s: cycle %ld of %s, %s, %zu machines, %zu jobs: %zu placed, %zu wait, %zu leave: ", path, (long)c.head.number, made,
           cycle_kind_names[c.head.kind], nnodes, njobs, r.was.places.n, r.was.waits.n, r.was_choice.evictions.n);
    if (r.is_same)
        puts("the same");
    else
        printf("differs: %.*s (made by %.*s)\n", STR_ARG(r.difference), STR_ARG(c.head.version));
    if (prints)
        print_plan(&r, a);
    *ret_same = r.is_same;
    return ERR_OK;
}

int replay_main(int argc, char **argv)
{
    bool prints = false, all_same = true;
    int from = 1;
    for (; from < argc && argv[from][0] == '-'; from++) {
        if (strcmp(argv[from], "--help") == 0)
            return fputs(usage, stdout) >= 0 && fflush(stdout) == 0 ? SAME : OTHER;
        if (strcmp(argv[from], "--print") != 0) {
            fprintf(stderr, "falaj-scheduler replay: unknown option %s\n%s", argv[from], usage);
            return BAD_INPUT;
        }
        prints = true;
    }
    if (from == argc) {
        fprintf(stderr, "falaj-scheduler replay: a file is expected\n%s", usage);
        return BAD_INPUT;
    }
    for (int i = from; i < argc; i++) {
        struct arena *a = arena_new(MEMORY_MAX);
        struct err e = { 0 };
        bool is_same = false;
        const enum errc rc = one_file(argv[i], prints, &is_same, a, &e);
        arena_free(a);
        if (rc != ERR_OK) {
            fflush(stdout);
            fprintf(stderr, "falaj-scheduler replay: %s\n", e.msg);
            return BAD_INPUT;
        }
        all_same &= is_same;
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("falaj-scheduler replay: standard output could not be written\n", stderr);
        return OTHER;
    }
    return all_same ? SAME : OTHER;
}
