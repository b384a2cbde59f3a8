/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - what GPU code is written with: a kernel, its place in the grid, barrier, shuffle, shared memory, loads of 16 bytes.
 *
 * A kernel file (*.cu) is written once, in the words that C and C++ share, and compiled three ways: to PTX by clang without any
 * toolkit, by nvcc where there is one, and as C for the processor, where every thread of a grid runs under the sanitizers
 * (tests/cuda/emu.h). So: casts are written, no designated initialisers, no compound literals, arguments by value.
 *
 *     GPU_KERNEL(add_one, struct add_one_args, a)
 *     {
 *         GPU_SHARED(float, room, 32);
 *         size_t i = gpu_index();
 *         …
 *     }
 *
 * Rules. A block has one dimension, a multiple of GPU_WARP threads; a grid up to three. Every thread of a block reaches
 * every GPU_BARRIER and GPU_BARRIER_OR, and every thread of a warp each GPU_SHUFFLE_DOWN, GPU_SHUFFLE_XOR, gpu_mma,
 * gpu_load_matrices and gpu_warp_barrier: no early return before one. GPU_SHARED comes first in the kernel; its contents,
 * and those of GPU_DYNAMIC, are undefined at the start of a block (the test runtime fills them with NaN). No atomics on
 * floats: sums have one order, given by shapes alone, so a backend of these kernels is deterministic.
 *
 * Copies under way: gpu_copy16_async begins a copy of 16 bytes to shared memory, gpu_copy_commit makes a group of those that
 * this thread has begun, gpu_copy_wait(n) waits until all its groups but the n youngest are there. Other threads see
 * them after the barrier that follows. Until then the 16 bytes hold nothing (the test runtime: NaN). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GPU_WARP = 32 };

struct gpu_place {
    unsigned thread, threads;           /* in the block, and of it */
    unsigned block[3];
};

/* A fragment of a of gpu_mma: pairs of bf16. */
struct gpu_mma_a {
    uint32_t v[4];
};

#if defined(__CUDA__) || defined(__CUDACC__)

#define GPU_CALL static inline __attribute__((device, always_inline, unused))
#define GPU_KERNEL(name, args, a)                                           \
    static inline __attribute__((device, always_inline)) void name##_thread(const args a); \
    extern "C" __attribute__((global)) void kernel_##name(const args a)     \
    {                                                                       \
        name##_thread(a);                                                   \
    }                                                                       \
    static inline __attribute__((device, always_inline)) void name##_thread(const args a)
#define GPU_SHARED(type, name, n) static __attribute__((shared, aligned(16))) type name[n]
extern __attribute__((shared, aligned(1024))) unsigned char gpu_dynamic_room[];
#define GPU_DYNAMIC(type, name) type *name = (type *)(void *)gpu_dynamic_room
#define GPU_UNROLL_TWO _Pragma("unroll 2")
#if defined(__clang__)
#define GPU_UNROLL _Pragma("clang loop unroll(full)")
GPU_CALL struct gpu_place gpu_place(void)
{
    struct gpu_place p = { (unsigned)__nvvm_read_ptx_sreg_tid_x(), (unsigned)__nvvm_read_ptx_sreg_ntid_x(),
                           { (unsigned)__nvvm_read_ptx_sreg_ctaid_x(), (unsigned)__nvvm_read_ptx_sreg_ctaid_y(),
                             (unsigned)__nvvm_read_ptx_sreg_ctaid_z() } };
    return p;
}
#define GPU_BARRIER() __syncthreads()
#define GPU_BARRIER_OR(is_true) (__nvvm_bar0_or(is_true) != 0)
#define GPU_SHUFFLE_DOWN(v, by) __nvvm_shfl_sync_down_f32(0xffffffffu, (v), (by), GPU_WARP - 1)
#define GPU_SHUFFLE_XOR(v, by) __nvvm_shfl_sync_bfly_f32(0xffffffffu, (v), (by), GPU_WARP - 1)
#define gpu_ballot(is_true) __nvvm_vote_ballot_sync(0xffffffffu, (is_true))
#define gpu_count_ones(v) ((unsigned)__builtin_popcount(v))
#define GPU_SHARED_AT(p) ((uint32_t)(uintptr_t)(const __attribute__((address_space(3))) void *)(p))
#else
#define GPU_UNROLL _Pragma("unroll")
GPU_CALL struct gpu_place gpu_place(void)
{
    struct gpu_place p = { threadIdx.x, blockDim.x, { blockIdx.x, blockIdx.y, blockIdx.z } };
    return p;
}
#define GPU_BARRIER() __syncthreads()
#define GPU_BARRIER_OR(is_true) (__syncthreads_or(is_true) != 0)
#define GPU_SHUFFLE_DOWN(v, by) __shfl_down_sync(0xffffffffu, (v), (by))
#define GPU_SHUFFLE_XOR(v, by) __shfl_xor_sync(0xffffffffu, (v), (by))
#define gpu_ballot(is_true) __ballot_sync(0xffffffffu, (is_true))
#define gpu_count_ones(v) ((unsigned)__popc(v))
#define GPU_SHARED_AT(p) ((uint32_t)__cvta_generic_to_shared(p))
#endif

GPU_CALL void gpu_mma_asm(float *d, struct gpu_mma_a a, uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(b0), "r"(b1));
}
#define GPU_MMA(d, a, b0, b1) gpu_mma_asm((d), (a), (b0), (b1))
GPU_CALL void gpu_copy16_async(void *shared, const void *global, bool is_inside)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(GPU_SHARED_AT(shared)), "l"(global), "r"(is_inside ? 16u : 0u) : "memory");
}
#define gpu_copy_commit() asm volatile("cp.async.commit_group;" ::: "memory")
#define gpu_copy_wait(n) asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory")
#define GPU_LOAD_MATRICES(how, v, at)                                                                               \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" how ".shared.b16 {%0,%1,%2,%3}, [%4];"                             \
                 : "=r"((v)[0]), "=r"((v)[1]), "=r"((v)[2]), "=r"((v)[3]) : "r"(GPU_SHARED_AT(at)) : "memory")
GPU_CALL void gpu_load_matrices(uint32_t *v, const uint16_t *at)
{
    GPU_LOAD_MATRICES("", v, at);
}
GPU_CALL void gpu_load_matrices_turned(uint32_t *v, const uint16_t *at)
{
    GPU_LOAD_MATRICES(".trans", v, at);
}
GPU_CALL float gpu_exp2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
GPU_CALL float gpu_inverse(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
GPU_CALL uint32_t gpu_pack(float low, float high)
{
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
#define GPU_HIDE(x) asm volatile("" : "+r"(x) :: "memory")
#define gpu_warp_barrier() asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")

#else

#define GPU_CALL static inline __attribute__((unused))
#define GPU_KERNEL(name, args, a)                       \
    static void name##_thread(const args a);            \
    const size_t gpu_emu_size_##name = sizeof(args);    \
    void gpu_emu_##name(const void *at)                 \
    {                                                   \
        name##_thread(*(const args *)at);               \
    }                                                   \
    static void name##_thread(const args a)
#define GPU_SHARED(type, name, n)                       \
    static _Thread_local __attribute__((aligned(16))) type name[n];     \
    gpu_emu_shared(name, sizeof(name))
#define GPU_DYNAMIC(type, name) type *name = (type *)(void *)gpu_emu_dynamic
#define GPU_UNROLL
#define GPU_HIDE(x) ((void)0)
#define GPU_UNROLL_TWO
extern _Thread_local struct gpu_place gpu_emu_at;
extern unsigned char gpu_emu_dynamic[];
void gpu_emu_shared(void *room, size_t size_bytes);     /* the first thread of a block fills it */
void gpu_emu_barrier(void);
bool gpu_emu_barrier_or(bool is_true);
float gpu_emu_shuffle_down(float v, unsigned by);
float gpu_emu_shuffle_xor(float v, unsigned by);
void gpu_emu_mma(float *d, struct gpu_mma_a a, uint32_t b0, uint32_t b1);
void gpu_copy16_async(void *shared, const void *global, bool is_inside);
void gpu_copy_commit(void);
void gpu_copy_wait(unsigned n);
void gpu_load_matrices(uint32_t *v, const uint16_t *at);
void gpu_load_matrices_turned(uint32_t *v, const uint16_t *at);
float gpu_exp2(float x);
float gpu_inverse(float x);
uint32_t gpu_ballot(bool is_true);
#define gpu_count_ones(v) ((unsigned)__builtin_popcount(v))
uint32_t gpu_pack(float low, float high);
void gpu_warp_barrier(void);
#define KERNEL(name, threads, shared_bytes) void gpu_emu_##name(const void *at);
#define FLASH_HOPPER KERNEL
#include "workers/compute/kernels/cuda/kernel.def"
#undef FLASH_HOPPER
#undef KERNEL
GPU_CALL struct gpu_place gpu_place(void)
{
    return gpu_emu_at;
}
#define GPU_BARRIER() gpu_emu_barrier()
#define GPU_BARRIER_OR(is_true) gpu_emu_barrier_or(is_true)
#define GPU_SHUFFLE_DOWN(v, by) gpu_emu_shuffle_down((v), (by))
#define GPU_SHUFFLE_XOR(v, by) gpu_emu_shuffle_xor((v), (by))
#define GPU_MMA(d, a, b0, b1) gpu_emu_mma((d), (a), (b0), (b1))

#endif

/* The other words, each in two forms above.
 *
 *     GPU_DYNAMIC(type, name)     the block's shared memory of the size that kernel.def says, at a multiple of 1024 bytes
 *     GPU_UNROLL                  before a loop whose counter is an index of an array in registers
 *     GPU_HIDE(x)                 a whole number of 32 bits that the compiler knows nothing of from here on: what is computed of
 *                                 it, and no load, moves up past this, where it would hold registers
 *     GPU_UNROLL_TWO              by twos: for whom registers would not do for all
 *     gpu_copy16_async(shared, global, is_inside)     both at multiples of 16; outside: zeros, and global is not looked at
 *     gpu_copy_wait(n)            n is a constant
 *     gpu_load_matrices(v, at)    four matrices of 8 × 8 numbers of 16 bits: lane i says where row i % 8 of matrix i / 8 lies (a
 *                                 multiple of 16 bytes), and gets in v[j] of matrix j the numbers 2·(lane % 4) and the next of
 *                                 row lane / 4; …_turned: of column lane / 4 (PTX ISA, ldmatrix)
 *     gpu_exp2(x)                 2^x, to 2 units in the last place; subnormal numbers are 0
 *     gpu_inverse(x)              1/x, to 1 unit in the last place; subnormal numbers are 0
 *     gpu_ballot(is_true)         a bit for each thread of the warp, all of which come here; gpu_count_ones(v): of its bits
 *     gpu_pack(low, high)         a pair of bf16, each rounded to the nearest even
 *     gpu_warp_barrier()          what threads of the warp have written to shared memory is there for its others */

/* d += a·b of a warp, 16 × 16 by 16 × 8 in bf16 with sums in fp32, by tensor cores (mma.m16n8k16): every thread of the warp comes
 * here, with its fragments. In which order the 16 products are added is the card's. */
GPU_CALL void gpu_mma(float *d, struct gpu_mma_a a, uint32_t b0, uint32_t b1)
{
    GPU_MMA(d, a, b0, b1);
}

/* The number of this thread in a grid of one dimension. */
GPU_CALL size_t gpu_index(void)
{
    struct gpu_place p = gpu_place();
    return (size_t)p.block[0] * p.threads + p.thread;
}

/* Two numbers of 16 bits in one access; the address is a multiple of four. */
typedef uint32_t __attribute__((may_alias)) gpu_pair;
GPU_CALL uint32_t gpu_load_pair(const uint16_t *at)
{
    return *(const gpu_pair *)(const void *)at;
}

/* The two numbers of a pair of bf16. */
union gpu_pair_half {
    uint32_t u;
    float f;
};
GPU_CALL float gpu_low(uint32_t pair)
{
    union gpu_pair_half x;
    x.u = pair << 16;
    return x.f;
}
GPU_CALL float gpu_high(uint32_t pair)
{
    union gpu_pair_half x;
    x.u = pair & 0xffff0000u;
    return x.f;
}

/* 16 bytes in one access; the address is a multiple of 16. */
struct __attribute__((aligned(16))) gpu_four {
    float v[4];
};
GPU_CALL struct gpu_four gpu_load4(const float *at)
{
    return *(const struct gpu_four *)(const void *)at;
}
GPU_CALL void gpu_store4(float *at, struct gpu_four v)
{
    *(struct gpu_four *)(void *)at = v;
}

/* The sum, or the largest, over the block, in every thread; room: GPU_WARP numbers of shared memory. Warps fold by halves, then
 * their results in ascending order: one order for one size of block. */
GPU_CALL float gpu_block_fold(float v, float *room, bool is_max)
{
    struct gpu_place p = gpu_place();
    for (unsigned by = GPU_WARP / 2; by; by /= 2) {
        float other = GPU_SHUFFLE_DOWN(v, by);
        v = is_max ? other > v ? other : v : v + other;
    }
    GPU_BARRIER();                      /* whoever still reads what an earlier fold left */
    if (p.thread % GPU_WARP == 0)
        room[p.thread / GPU_WARP] = v;
    GPU_BARRIER();
    v = room[0];
    for (unsigned i = 1; i < p.threads / GPU_WARP; i++)
        v = is_max ? room[i] > v ? room[i] : v : v + room[i];
    return v;
}

/* Σ over the block in fp64, in every thread; room: a number of shared memory for each thread, of which there are a power of two.
 * Once in a kernel: nobody waits for those who still read room[0]. */
GPU_CALL double gpu_block_total(double v, double *room)
{
    struct gpu_place p = gpu_place();
    room[p.thread] = v;
    GPU_BARRIER();
    for (unsigned by = p.threads / 2; by; by /= 2) {
        if (p.thread < by)
            room[p.thread] += room[p.thread + by];
        GPU_BARRIER();
    }
    return room[0];
}
