/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_kit.h - what the stages of bench_gpu share: the card's context, the clock, buffers that hold no zeros, the median of many
 * calls, lines of JSON.
 *
 * EMULATED: over the form that runs on the processor (tests/cuda); its figures say nothing and are not kept. A stage that fails
 * prints a line with "failed" and ends the program. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workers/compute/kernels/call.h"
#include "workers/compute/kernels/cuda/cuda_int.h"
#include "workers/compute/rng.h"
#include "workers/compute/train/net.h"
#if __has_include("workers/compute/kernels/product_library.h")
#include "workers/compute/kernels/product_library.h"
#define HAS_LIBRARY
#endif
#if defined(EMULATED)
#include "tests/cuda/emu.h"
enum { WARM = 1, ROUNDS = 1, STEPS_LEAST = 1, PROFILE_STEPS = 1 };
#else
enum { WARM = 2, ROUNDS = 7, STEPS_LEAST = 8, PROFILE_STEPS = 3 };
#endif
#define DIMS(...) sizeof((size_t[]){ __VA_ARGS__ }) / sizeof(size_t), (size_t[]){ __VA_ARGS__ }

enum { GPU_ARGS = 6 };
extern struct backend gpu;                  /* the card's, less what FALAJ_GPU_WITHOUT names: narrow (tensors in bf16) */
extern double budget_s;                     /* of one figure */
extern size_t arg[GPU_ARGS];                /* numbers of the command line; 0: not given */
extern struct backend_ctx *ctx;
extern struct err failure;

struct use {                                /* one operation, ready to be called */
    enum op op;
    enum elem type;                         /* of its key input */
    struct op_call call;
};

void choose_backend(void);
/* Where FALAJ_GPU_FIND is set: the operation that fails is told, and ends the program. */
void find_begin(void);
/* From here on products by the vendor's library, where there is one; false: by own kernels. FALAJ_GPU_WITHOUT=library: never. */
bool use_library(struct backend_ctx *c);
/* FALAJ_GPU_HOPPER: a line says whether own products by wgmma agree with the strips; FALAJ_GPU_WITHOUT=hopper: by strips
 * alone. */
void use_hopper(struct backend_ctx *c);
const char *products_by(void);              /* library, wgmma or strips; after the first product */
extern bool has_library;                    /* it was begun for ctx */
double now(void);
_Noreturn void stop(const char *stage);     /* with failure.msg */
void settle(const char *stage);             /* all queues; stops when something failed */
/* Memory of that many numbers, normal ones. */
struct buffer *room(size_t numbers, enum elem type);
struct tensor tensor(struct buffer *b, enum elem type, unsigned rank, const size_t *dim);
void call_use(void *with);
/* Of one call: as many as fill the budget, in rounds; the median round. */
double seconds_of(const char *stage, void (*call)(void *), void *with);
/* FALAJ_GPU_BF16: bf16 is asked for. */
bool is_half(void);
const char *type_name(enum elem t);
/* Documents of the repository, whose folder is the current one; free it. */
char *bench_text(size_t *ret_n);

void stage_check(void);
void stage_copy(void);
void stage_product(void);
void stage_products(void);
void stage_attention(void);
void stage_gpt(void);
void stage_cnn(void);
void stage_mlp(void);
void stage_energy(void);
void stage_grads(void);
void stage_curve(void);
void stage_tune(void);
void stage_data(void);
void stage_nccl(void);
