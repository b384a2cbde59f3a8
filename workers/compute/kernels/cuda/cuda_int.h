/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_int.h - between the files of the backend "cuda", and for its form that runs on the processor (tests/cuda). */
#pragma once
#include "workers/compute/kernels/capturing.h"
#include "workers/compute/kernels/cards.h"
#include "workers/compute/kernels/cuda/args.h"
#include "workers/compute/kernels/cuda/driver.h"

enum kernel {
#define KERNEL(name, threads, shared_bytes) KERNEL_##name,
#include "workers/compute/kernels/cuda/kernel.def"
#undef KERNEL
    KERNEL_COUNT
};

struct gpu_image {              /* a compiled *.cu: PTX, which the driver turns into the card's own code; ends with a zero byte */
    const char *name;
    const char *text;
};
extern const struct gpu_image gpu_images[];     /* made by the build; name NULL at the end */

enum { GPU_MODULES_MAX = 32, GPU_USES_MAX = OP_INPUTS_MAX + OP_OUTPUTS_MAX };

struct backend_ctx {
    const struct backend *be;
    const struct gpu_image *images;
    struct gpu_driver d;
    int device;
    void *context, *module[GPU_MODULES_MAX], *function[KERNEL_COUNT], *stream[QUEUE_COUNT];
    bool is_too_large[KERNEL_COUNT];    /* the card's blocks have not that much shared memory */
    gpu_ptr scratch, gathered;
    size_t scratch_bytes, gathered_bytes;
    size_t refused_bytes;       /* of scratch memory or windows, that the card did not have */
    bool refused_is_windows;
    size_t gathered_most;       /* windows are gathered so many bytes at a time */
    uint64_t scratch_moves;     /* it lies elsewhere than what was captured before says */
    struct captured *capture;   /* is made now; NULL: none is */
    struct flash_hopper *flash; /* attention by wgmma (cuda_flash.h); NULL: by mma.sync */
    struct hopper *hopper;      /* products by wgmma (cuda_hopper.h); NULL: by strips */
    bool tries_hopper;          /* when the first operation with factors in bf16 comes, and no library is used */
    struct lt *lt;              /* products by cuBLASLt (lt_int.h); NULL: by own kernels */
    bool never_captures;
    int code;                   /* the first failure since the last sync */
    const char *failed;         /* what was asked for; NULL: nothing failed */
};

enum errc cuda_open_by(const struct backend *be, const struct gpu_driver *d, const struct gpu_image *images,
                       struct backend_ctx **ret, struct err *e);
void cuda_close(struct backend_ctx *c);
struct buffer *cuda_alloc(struct backend_ctx *c, size_t size_bytes);
void cuda_free(struct backend_ctx *c, struct buffer *b);
void cuda_put(struct backend_ctx *c, enum queue q, struct buffer *b, size_t offset_bytes, const void *src, size_t n);
void cuda_get(struct backend_ctx *c, enum queue q, const struct buffer *b, size_t offset_bytes, void *dst, size_t n);
enum errc cuda_sync(struct backend_ctx *c, struct err *e);
struct event *cuda_event_new(struct backend_ctx *c);
void cuda_event_free(struct backend_ctx *c, struct event *ev);
void cuda_record(struct backend_ctx *c, enum queue q, struct event *ev);
void cuda_wait(struct backend_ctx *c, enum queue q, const struct event *ev);
void cuda_forget(struct backend_ctx *c, struct buffer *b);
extern const struct capturing cuda_capturing;
bool cuda_capture_begin(struct backend_ctx *c);
struct captured *cuda_capture_end(struct backend_ctx *c);
bool cuda_replay(struct backend_ctx *c, const struct captured *g);
void cuda_capture_free(struct backend_ctx *c, struct captured *g);
extern const struct card_ops cuda_cards;
void *cuda_host_alloc(struct backend_ctx *c, size_t size_bytes);         /* cards.h */
void cuda_host_free(struct backend_ctx *c, void *at);
void cuda_card_use(int card);                   /* of the contexts that this thread opens from here on */
bool cuda_did(struct backend_ctx *c, int code, const char *what);       /* keeps the first failure; true: there was none */
size_t cuda_pack_bytes(size_t n, size_t k);
size_t cuda_pack_q8_bytes(size_t n, size_t slices, size_t depth);
extern kernel_table cuda_kernels;
#define CUDA_BACKEND                                                                                                            \
    .properties = BE_SAME_BITS | BE_DETERMINISTIC | BE_DEVICE | BE_BF16 | BE_FAST_BF16 | BE_NARROW, .kernels = &cuda_kernels,   \
    .close = cuda_close, .alloc = cuda_alloc,                                                                                   \
    .free = cuda_free, .put = cuda_put, .get = cuda_get, .sync = cuda_sync, .event_new = cuda_event_new,                        \
    .event_free = cuda_event_free, .record = cuda_record, .wait = cuda_wait, .pack_bytes = cuda_pack_bytes,                     \
    .pack_q8_bytes = cuda_pack_q8_bytes, .forget = cuda_forget

/* For operations: device memory for partial results, valid until the next call; NULL after a failure. */
void *cuda_scratch(struct backend_ctx *c, size_t size_bytes);
void cuda_memory(struct backend_ctx *c, struct card_memory *ret);        /* cards.h */
enum errc cuda_no_memory(struct backend_ctx *c, const char *failed, struct err *e);      /* LIMIT, with what was asked for */
void cuda_refuse(struct backend_ctx *c, const char *why);       /* something that the driver was not even asked for */
/* The same beside it, for an operation that is made of others, which take scratch memory themselves. */
void *cuda_gathered(struct backend_ctx *c, size_t size_bytes);
/* What the operation may touch, from its tensors; then its launches; then the end. */
void cuda_begin(struct backend_ctx *c, enum op op, const struct op_call *o);
void cuda_end(struct backend_ctx *c);
bool cuda_fits(const struct backend_ctx *c, enum kernel k);    /* the card can run it */
/* false: nothing is to be launched; a grid that no card takes is a failure, which sync tells. */
bool cuda_is_grid(struct backend_ctx *c, size_t x, size_t y, size_t z);
void cuda_launch(struct backend_ctx *c, enum kernel k, size_t x, size_t y, size_t z, const void *args);
