/* SPDX-License-Identifier: Apache-2.0 */
/* executor_kit.h - one lease in a real child of the real binary, over one sealed input; what it reported is looked through. */
#pragma once
#include "lease_kit.h"

#include <dirent.h>

struct fixture {
    struct kit_store store;
    struct executor_io io;
    struct executor_env env;
    struct config *config;
    struct book *book;
    _Atomic bool stopping;
    char dir[64], program[512];
};

static inline void setup_with(struct fixture *f, const char *memory, const void *content, size_t n)
{
    struct err e = { 0 };
    memset(f, 0, sizeof *f);
    kit_put(&f->store, "dataset", content, n);
    f->io = kit_io(&f->store);
    f->config = config_new_default();
    assert_int_equal(config_set(f->config, "worker.slot_memory", memory, &e), ERR_OK);
    assert_int_equal(config_set(f->config, "worker.grace_ms", "3000", &e), ERR_OK);
    f->book = book_new(&clock_system, 10000);
    snprintf(f->dir, sizeof f->dir, "/tmp/falaj-test-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->env = (struct executor_env){ .config = f->config, .work_dir = f->dir, .program = kit_program(f->program),
                                    .stopping = &f->stopping, .io = &f->io };
}

static inline void setup(struct fixture *f, const char *memory)
{
    struct buf csv;
    kit_read_file("datasets/digits/digits.csv", &csv);
    setup_with(f, memory, csv.ptr, csv.len);
    buf_release(&csv);
}

static inline void teardown(struct fixture *f)
{
    book_free(f->book);
    config_free(f->config);
    buf_release(&f->store.sealed);
    buf_release(&f->store.uploaded);
    for (int i = 0; i < f->store.n_ckpts; i++)
        buf_release(&f->store.ckpts[i].sealed);
    assert_int_equal(rmdir(f->dir), 0);         /* nothing is left behind */
}

static inline struct held *add_kind(struct fixture *f, const char *kind, const char *spec, int64_t max_runtime_s)
{
    struct lease_grant g = kit_grant(1, kind, spec);
    g.max_runtime_s = max_runtime_s;
    kit_add_input(&g, &f->store, "dataset");
    kit_add_checkpoints(&g, &f->store);
    return book_add(f->book, &g, true);
}

static inline void run_and_expect(struct fixture *f, struct held *h, const char *event, const char *text)
{
    executor_run(&f->env, h);
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    kit_report(f->book, &report);
    if (!strstr(report.ptr, event) || !strstr(report.ptr, text))
        fprintf(stderr, "%s\n", report.ptr);
    assert_non_null(strstr(report.ptr, event));
    assert_non_null(strstr(report.ptr, text));
}

/* The one child of this process. */
static inline pid_t kit_child(void)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/self/task");
    DIR *d = opendir(path);
    pid_t found = 0;
    for (struct dirent *t; d && !found && (t = readdir(d));) {
        char list[320];
        snprintf(list, sizeof list, "/proc/self/task/%s/children", t->d_name);
        FILE *f = fopen(list, "re");
        if (f && fgets(line, sizeof line, f))
            found = (pid_t)atoi(line);
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    return found;
}
