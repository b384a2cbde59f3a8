/* SPDX-License-Identifier: Apache-2.0 */
/* tool.c - the command line, files, and the verb `convert`. */
#include "workers/tool/tool.h"
#include "workers/compute/optimise/optimise.h"
#include "workers/compute/ort/ort_convert.h"
#include "workers/compute/ort/ort_model.h"
#include "workers/compute/pool.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const size_t FILE_MAX = (size_t)2 << 30, MODEL_MAX = (size_t)2 << 30, TOOL_ARENA = (size_t)8 << 30;

bool tool_is_verb(const char *word)
{
    return !strcmp(word, "convert") || !strcmp(word, "infer") || !strcmp(word, "bench");
}

enum errc tool_read(const char *path, struct buf *ret, struct err *e)
{
    FILE *f = fopen(path, "re");
    char piece[65536];
    size_t n = 1;
    while (f && n > 0 && !ret->overflow) {
        n = fread(piece, 1, sizeof piece, f);
        buf_add(ret, piece, n);
    }
    bool bad = !f || ferror(f);
    if (f)
        fclose(f);
    if (bad)
        return FAIL(e, IO, "%s: it cannot be read", path);
    return ret->overflow ? FAIL(e, LIMIT, "%s: it has more than %zu bytes", path, ret->max) : ERR_OK;
}

enum errc tool_write(const char *path, const struct buf *b, struct err *e)
{
    FILE *f = fopen(path, "we");
    bool ok = f && fwrite(b->ptr, 1, b->len, f) == b->len;
    ok = f && !fclose(f) && ok;
    return ok ? ERR_OK : FAIL(e, IO, "%s: it cannot be written", path);
}

enum errc tool_map(const char *path, struct tool_map *ret, struct err *e)
{
    struct stat st;
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    *ret = (struct tool_map){ NULL, 0 };
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < 1)
        return FAIL(e, IO, "%s: it cannot be read", path);
    if ((size_t)st.st_size > FILE_MAX)
        return FAIL(e, LIMIT, "%s: it has more than %zu bytes", path, FILE_MAX);
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return FAIL(e, IO, "%s: it cannot be mapped", path);
    *ret = (struct tool_map){ p, (size_t)st.st_size };
    return ERR_OK;
}

void tool_unmap(struct tool_map *m)
{
    if (m->ptr)
        (void)munmap((void *)(uintptr_t)m->ptr, m->len);
}

static void drop(void *ctx, const void *p, size_t n)
{
    (void)ctx;
    pages_drop(p, n);
}

const struct read_once tool_once = { drop, NULL };

long tool_peak_kb(void)
{
    struct rusage u = { 0 };
    (void)getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

/* The message with the file in front of it. */
static enum errc at_file(const char *path, struct err *e)
{
    struct err inner = *e;
    return err_set(e, inner.code, inner.file, inner.line, "%.100s: %.150s", path, inner.msg);
}

static bool is_onnx(const char *path)
{
    return str_ends(str_c(path), ".onnx");
}

/* One of the process, which ends with it. */
static enum errc open_engine(void *ctx, const struct infer_engine **ret, struct err *e)
{
    static char name[64];
    static struct infer_engine engine;
    const struct tool_args *t = ctx;
    struct ort *ort;
    if (!engine.name) {
        TRY(ort_open(t->onnxruntime, 0, &ort, e));
        ort_engine_of(ort, name, &engine);
    }
    *ret = &engine;
    return ERR_OK;
}

static enum errc convert(struct arena *a, const struct tool_args *t, struct buf *out, struct onnx_about *about, struct err *e)
{
    CLEANUP(buf_releasep) struct buf bytes = BUF(FILE_MAX);
    const struct infer_door door = { open_engine, (void *)(uintptr_t)t };
    TRY(tool_read(t->model, &bytes, e));
    return ort_convert(a, buf_str(&bytes), &t->dims, t->onnxruntime ? &door : NULL, out, about, e) == ERR_OK
           ? ERR_OK : at_file(t->model, e);
}

enum errc tool_backend(const struct tool_args *t, const struct backend **ret, struct pool **ret_pool, struct err *e)
{
    struct hw hw;
    hw_read(&hw);
    TRY(backend_choose(t->backend, &hw, NULL, NULL, ret, e));
    return pool_new(t->threads, ret_pool, e);
}

enum errc tool_load(struct arena *a, const struct tool_args *t, struct pool *pool, const struct backend *be,
                    const struct plan_kept *kept, struct infer_model **ret, size_t *ret_bytes, struct err *e)
{
    CLEANUP(buf_releasep) struct buf made = BUF(MODEL_MAX), small = BUF(MODEL_MAX);
    CLEANUP(tool_unmap) struct tool_map file = { NULL, 0 };
    struct onnx_about about;
    bool is_plain = !strcmp(t->type, "fp32");
    if (!is_plain && strcmp(t->type, "bf16") && strcmp(t->type, "int8"))
        return FAIL(e, INVALID, "--type %.40s: fp32 (as the file is), bf16 and int8 are known", t->type);
    if (t->packed && (!is_plain || is_onnx(t->model)))
        return FAIL(e, INVALID, "--packed %.40s: weights are kept of a model file as it is: no .onnx file (convert it first), no "
                    "--type", t->packed);
    TRY(is_onnx(t->model) ? convert(a, t, &made, &about, e) : tool_map(t->model, &file, e));
    struct str bytes = file.ptr ? str_n(file.ptr, file.len) : buf_str(&made);
    if (!is_plain) {
        if (optimise_direct(a, bytes, strcmp(t->type, "bf16") ? OPTIMISE_INT8 : OPTIMISE_BF16, &small, e) != ERR_OK)
            return at_file(t->model, e);
        bytes = buf_str(&small);
    }
    *ret_bytes = bytes.len;
    const struct infer_door door = { open_engine, (void *)(uintptr_t)t };
    const struct infer_load how = { .data = &tool_once, .door = t->onnxruntime ? &door : NULL, .kept = kept };
    return infer_model_load_from(be, pool, bytes.ptr, bytes.len, &how, ret, e) == ERR_OK ? ERR_OK : at_file(t->model, e);
}

static enum errc run_convert(struct arena *a, const struct tool_args *t, struct err *e)
{
    CLEANUP(buf_releasep) struct buf file = BUF(MODEL_MAX);
    struct onnx_about about = { 0 };
    TRY(convert(a, t, &file, &about, e));
    TRY(tool_write(t->out_file, &file, e));
    if (about.made_nodes)
        printf("%s: %zu bytes; operator set %ld, %zu nodes as %zu operations\n", t->out_file, file.len, (long)about.opset,
               about.nodes, about.made_nodes);
    else
        printf("%s: %zu bytes; operator set %ld, %zu nodes, as it came, for ONNX Runtime\n", t->out_file, file.len,
               (long)about.opset, about.nodes);
    return ERR_OK;
}

static int usage(const char *why)
{
    fprintf(
        stderr,
        "falaj-worker: %s\n"
        "usage: falaj-worker convert MODEL.onnx OUT [--dim NAME=N]...\n"
        "       falaj-worker infer MODEL --input [NAME=]FILE.npy... [--output DIR] [--backend NAME] [--threads N]\n"
        "                          [--type fp32|bf16|int8]\n"
        "       falaj-worker infer MODEL --prompt TEXT [--max-tokens N] [--temperature T] [--seed N] [--type fp32|bf16|int8]\n"
        "       falaj-worker bench MODEL [--batch N] [--threads N] [--type fp32|bf16|int8] [--tier NAME] [--seconds S]\n"
        "       infer and bench of a model file with --packed FILE: weights as they are computed with, kept for the next start\n"
        "       each with --onnxruntime LIBRARY, which computes models outside the own operations\n",
        why);
    return 2;
}

static bool read_dim(struct tool_args *t, const char *text)
{
    struct str name, number;
    struct onnx_dims *d = &t->dims;
    if (d->count == ONNX_OPEN_DIMS_MAX || !str_cut(str_c(text), '=', &name, &number))
        return false;
    d->dim[d->count].name = name;
    return str_to_i64(number, 1, INT32_MAX, &d->dim[d->count++].n);
}

/* false: *ret_why says what is wrong. */
static bool read_args(int argc, char **argv, struct tool_args *t, const char **ret_why)
{
    *ret_why = "the model is missing";
    if (argc < 3)
        return false;
    for (int i = 2; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        int64_t n;
        if (strncmp(word, "--", 2)) {
            if (t->model && (t->out_file || strcmp(t->verb, "convert"))) {
                *ret_why = "there is one file too many";
                return false;
            }
            *(t->model ? &t->out_file : &t->model) = word;
            continue;
        }
        *ret_why = "an option is not known, or its value is missing or out of range";
        if (!value)
            return false;
        i++;
        if (!strcmp(word, "--input") && t->input_count < TOOL_INPUTS_MAX)
            t->inputs[t->input_count++] = value;
        else if (!strcmp(word, "--output"))
            t->output_dir = value;
        else if (!strcmp(word, "--backend") || !strcmp(word, "--tier"))
            t->backend = value;
        else if (!strcmp(word, "--type"))
            t->type = value;
        else if (!strcmp(word, "--onnxruntime"))
            t->onnxruntime = value;
        else if (!strcmp(word, "--packed"))
            t->packed = value;
        else if (!strcmp(word, "--prompt"))
            t->prompt = value;
        else if (!strcmp(word, "--max-tokens") && str_to_i64(str_c(value), 1, 1 << 20, &t->max_tokens))
            continue;
        else if (!strcmp(word, "--seed") && str_to_i64(str_c(value), 0, INT64_MAX, &t->seed))
            continue;
        else if (!strcmp(word, "--temperature") && str_to_f64(str_c(value), &t->temperature) && t->temperature >= 0)
            continue;
        else if (!strcmp(word, "--threads") && str_to_i64(str_c(value), 1, 256, &n))
            t->threads = (int)n;
        else if (!strcmp(word, "--batch") && str_to_i64(str_c(value), 1, 65536, &n))
            t->batch = (int)n;
        else if (!strcmp(word, "--dim") && read_dim(t, value))
            continue;
        else if (strcmp(word, "--seconds") || !str_to_f64(str_c(value), &t->seconds) || t->seconds <= 0)
            return false;
    }
    *ret_why = "a file is missing";
    return t->model && (t->out_file || strcmp(t->verb, "convert")) && (t->input_count || t->prompt || strcmp(t->verb, "infer"));
}

int tool_print_onnx(void)
{
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
    return onnx_print_ops(&b) && fwrite(b.ptr, 1, b.len, stdout) == b.len ? 0 : 1;
}

int tool_main(int argc, char **argv)
{
    struct tool_args t = {
        .verb = argv[1], .threads = 1, .batch = 1, .seconds = 1, .max_tokens = 64, .backend = "auto", .type = "fp32"
    };
    struct err e = { 0 };
    const char *why;
    if (!read_args(argc, argv, &t, &why))
        return usage(why);
    CLEANUP(arena_freep) struct arena *a = arena_new(TOOL_ARENA);
    enum errc rc = !strcmp(t.verb, "convert") ? run_convert(a, &t, &e)
                   : !strcmp(t.verb, "infer") ? tool_infer(a, &t, &e)
                                              : tool_bench(a, &t, &e);
    if (rc != ERR_OK)
        fprintf(stderr, "falaj-worker: %s\n", e.msg);
    return rc == ERR_OK ? 0 : 1;
}
