/* SPDX-License-Identifier: Apache-2.0 */
/* tool_bench.c - items per second and latency of a model, in the lines of JSON that its peers print. */
#include "workers/tool/tool_text.h"
#include "workers/tool/packed.h"
#include "core/base/clock.h"
#include "core/json/encode.h"
#include "workers/compute/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { ROUNDS = 7 };

struct bench_line {
    struct str src, model, prec, tier;
    int64_t batch, threads, conc, file_bytes, weight_bytes, rss_kb, load_kb;
    double us, us_min, cpu_us, items_s, load_ms, first_ms, first_cpu_ms;
};
SCHEMA_OF(bench_line, "What a bench measured", FIELD(bench_line, src, 0, .doc = "Who"), FIELD(bench_line, model, 0,
                                                                                              .doc = "Its file"),
    FIELD(bench_line, prec, 0, .doc = "Type of its numbers"), FIELD(bench_line, batch, 0, .doc = "Rows of a call"),
    FIELD(bench_line, threads, 0, .doc = "Of a call"), FIELD(bench_line, conc, 0, .doc = "Calls at once"),
    FIELD(bench_line, tier, 0, .doc = "Backend"), FIELD(bench_line, us, 0, .doc = "Median of a call"),
    FIELD(bench_line, us_min, 0, .doc = "Best round"),
    FIELD(bench_line, cpu_us, 0, .doc = "Processor time of a call, of all threads: what a busy machine does not stretch"),
    FIELD(bench_line, items_s, 0, .doc = "Rows per second"),
    FIELD(bench_line, load_ms, 0, .doc = "From file to model"),
    FIELD(bench_line, first_ms, 0, .doc = "From file to the first answer of one row"),
    FIELD(bench_line, first_cpu_ms, 0, .doc = "Processor time of that"),
    FIELD(bench_line, load_kb, 0, .doc = "Most memory of the process until then"),
    FIELD(bench_line, file_bytes, 0, .doc = "Of the model file"),
    FIELD(bench_line, weight_bytes, 0, .doc = "Constants in memory"), FIELD(bench_line, rss_kb, 0,
                                                                            .doc = "Memory of the process"));

static int64_t now_us(void)
{
    return clock_mono_us(&clock_system);
}

static double cpu_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static long resident_kb(void)
{
    char line[256];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "VmRSS:", 6))
            kb = strtol(line + 6, NULL, 10);
    if (f)
        fclose(f);
    return kb;
}

/* Numbers in [-1, 1), or indices below what the model takes. */
static enum errc fill(struct arena *a, const struct infer_model *m, struct infer_io *io, size_t rows, struct err *e)
{
    const struct model_sig *sig = &infer_model_info(m)->sig;
    uint64_t state = 7;
    for (size_t i = 0; i < sig->input_count + sig->output_count; i++) {
        bool is_input = i < sig->input_count;
        const struct sig_tensor *t = is_input ? &sig->inputs[i] : &sig->outputs[i - sig->input_count];
        size_t n = sig_count(t, rows), limit = is_input && infer_index_limit(m, i) ? infer_index_limit(m, i) : 2;
        float *real = arena_try(a, (n + 1) * sizeof *real);
        if (!real)
            return FAIL(e, LIMIT, "a batch of %zu rows does not fit in memory", rows);
        for (size_t j = 0; is_input && j < n; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            if (infer_is_whole(t))
                ((int32_t *)(void *)real)[j] = (int32_t)((state >> 33) % limit);
            else
                real[j] = (float)(int32_t)(state >> 32) / 2147483648.0f;
        }
        if (is_input)
            io->in[i] = real;
        else
            io->out[i - sig->input_count] = real;
    }
    return ERR_OK;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* How a model began: what of the line is known before the first round. */
struct start {
    int64_t from_us;
    double from_cpu_us, load_ms, first_ms, first_cpu_ms;
    long peak_kb;
    size_t file_bytes;
};

static enum errc first_answer(struct arena *a, const struct infer_model *m, struct infer_session *s, struct start *b,
                              struct err *e)
{
    struct infer_io *io = ARENA_NEW(a, struct infer_io);
    TRY(fill(a, m, io, 1, e));
    TRY(infer_run(s, io, 1, e));
    b->first_ms = (double)(now_us() - b->from_us) / 1e3;
    b->first_cpu_ms = (cpu_us() - b->from_cpu_us) / 1e3;
    b->peak_kb = tool_peak_kb();
    pages_drop_code();
    infer_model_settle(m, NULL);
    return ERR_OK;
}

static enum errc measure(struct arena *a, const struct tool_args *t, const struct infer_model *m, const struct backend *be,
                         struct start *b, struct err *e)
{
    struct infer_session *s = NULL;
    struct infer_io *io = ARENA_NEW(a, struct infer_io);
    double us[ROUNDS];
    size_t rows = infer_model_info(m)->has_rows ? (size_t)t->batch : 1;
    TRY(infer_session_new(m, &s, e));
    int64_t from = 0, reps = 1;
    enum errc rc = first_answer(a, m, s, b, e);
    if (rc == ERR_OK)
        rc = fill(a, m, io, rows, e);
    from = now_us();
    if (rc == ERR_OK)
        rc = infer_run(s, io, rows, e);
    while (rc == ERR_OK && now_us() - from < 200000) {      /* warm, and long enough to count calls */
        int64_t began = now_us();
        rc = infer_run(s, io, rows, e);
        int64_t took = now_us() - began;
        reps = (int64_t)(t->seconds * 1e6 / ROUNDS) / (took > 0 ? took : 1);
    }
    reps = reps > 0 ? reps : 1;
    double cpu = cpu_us();
    for (int r = 0; r < ROUNDS && rc == ERR_OK; r++) {
        from = now_us();
        for (int64_t k = 0; k < reps && rc == ERR_OK; k++)
            rc = infer_run(s, io, rows, e);
        us[r] = (double)(now_us() - from) / (double)reps;
    }
    cpu = (cpu_us() - cpu) / (double)(ROUNDS * reps);
    infer_session_free(s);
    TRY(rc);
    qsort(us, ROUNDS, sizeof *us, compare);
    const char *engine = infer_model_info(m)->engine;
    const struct bench_line line = {
        STR("falaj"), str_c(name_of(t->model)), str_c(t->type), str_c(engine ? engine : be->name), (int64_t)rows, t->threads, 1,
        (int64_t)b->file_bytes, (int64_t)infer_model_bytes(m), resident_kb(), b->peak_kb, us[ROUNDS / 2], us[0], cpu,
        (double)rows * 1e6 / us[ROUNDS / 2], b->load_ms, b->first_ms,
        b->first_cpu_ms,
    };
    CLEANUP(buf_releasep) struct buf text = BUF(4096);
    json_encode(&bench_line_schema, &line, &text);
    printf("%s\n", text.ptr);
    return ERR_OK;
}

enum errc tool_bench(struct arena *a, const struct tool_args *t, struct err *e)
{
    CLEANUP(pool_freep) struct pool *pool = NULL;
    CLEANUP(packed_closep) struct packed *packed = ARENA_NEW(a, struct packed);
    const struct backend *be;
    struct infer_model *m = NULL;
    struct start begun = { 0 };
    CLEANUP(tool_unmap) struct tool_map file = { NULL, 0 };
    struct st_file st;
    double from_us = (double)now_us();
    if (tool_is_text(a, t->model, &file, &st))
        return t->packed ? FAIL(e, INVALID, "--packed %.100s: a decoder's weights are not kept", t->packed)
               : tool_text_bench(a, t, &st, from_us, e);
    TRY(tool_backend(t, &be, &pool, e));
    tool_unmap(&file);
    file = (struct tool_map){ NULL, 0 };
    begun.from_us = now_us();
    begun.from_cpu_us = cpu_us();
    TRY(packed_open(t->packed, t->model, be->name, packed, e));
    TRY(tool_load(a, t, pool, be, t->packed ? &packed->kept : NULL, &m, &begun.file_bytes, e));
    begun.load_ms = (double)(now_us() - begun.from_us) / 1e3;
    enum errc rc = measure(a, t, m, be, &begun, e);
    if (rc == ERR_OK)
        rc = packed_keep(packed, m, e);
    infer_model_free(m);
    return rc;
}
