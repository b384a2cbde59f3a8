/* SPDX-License-Identifier: Apache-2.0 */
/* tool.h - verbs of falaj-worker for one model on this machine, without a platform: convert, infer, bench.
 *
 *   falaj-worker convert MODEL.onnx OUT [--dim NAME=N]…     an ONNX model as a model file
 *   falaj-worker infer MODEL --input [NAME=]FILE.npy … [--output DIR] [--backend NAME] [--threads N] [--dim NAME=N]… [--type T]
 *   falaj-worker infer MODEL --prompt TEXT [--max-tokens N] [--temperature T] [--seed N] [--type fp32|bf16|int8]   of a decoder
 *   falaj-worker bench MODEL [--batch N] [--threads N] [--type fp32|bf16|int8] [--tier NAME] [--seconds S]
 *   … [--packed FILE]                                       with infer and bench of a model file: packed.h
 *   … [--onnxruntime LIBRARY]                               with each verb: for models outside our operations
 *
 * MODEL is a model file, or an .onnx file, which is converted on the way; --type makes its products and convolutions smaller
 * (optimise_direct), fp32 leaves the file as it is. infer prints the outputs as JSON (Open Inference
 * Protocol), or writes DIR/NAME.npy; bench prints one line of JSON. Exit status: 0; 1 with a line on stderr that names the
 * file; 2 for a command line that is not understood. */
#pragma once
#include <stdbool.h>
#include "core/base/cleanup.h"
#include "workers/compute/infer/model.h"
#include "workers/compute/onnx/convert.h"

enum { TOOL_INPUTS_MAX = SIG_TENSORS_MAX };

struct tool_args {
    const char *verb, *model, *out_file, *output_dir, *backend, *type;
    const char *inputs[TOOL_INPUTS_MAX];
    size_t input_count;
    struct onnx_dims dims;
    const char *prompt, *onnxruntime, *packed;
    int threads, batch;
    int64_t max_tokens, seed;
    double seconds, temperature;
};

bool tool_is_verb(const char *word);
int tool_main(int argc, char **argv);
int tool_print_onnx(void);           /* docs/gen/onnx.md, on stdout */

/* Whole files, at most LEASE_OUTPUT_MAX-like sizes; the path is in the message. */
enum errc tool_read(const char *path, struct buf *ret, struct err *e);
enum errc tool_write(const char *path, const struct buf *b, struct err *e);
/* A model file in memory as it is on the disk, to be read once (core/base/pages.h): no page of it is a copy. */
struct tool_map {
    const char *ptr;
    size_t len;
};
enum errc tool_map(const char *path, struct tool_map *ret, struct err *e);
void tool_unmap(struct tool_map *m);                        /* for CLEANUP; never mapped is fine */
extern const struct read_once tool_once;
long tool_peak_kb(void);                                    /* most memory that this process has had */
/* The backend and the threads that the arguments name; the pool must outlive the model. */
enum errc tool_backend(const struct tool_args *t, const struct backend **ret, struct pool **ret_pool, struct err *e);
/* kept: packed weights of an earlier start, which outlive the model; NULL: none. */
enum errc tool_load(struct arena *a, const struct tool_args *t, struct pool *pool, const struct backend *be,
                    const struct plan_kept *kept, struct infer_model **ret, size_t *ret_bytes, struct err *e);
enum errc tool_infer(struct arena *a, const struct tool_args *t, struct err *e);
enum errc tool_bench(struct arena *a, const struct tool_args *t, struct err *e);
