/* SPDX-License-Identifier: Apache-2.0 */
/* emu_run.c - a grid on one thread of the processor: fibers that give way at barriers and shuffles.
 *
 * A fiber is a stack and the registers that a call keeps; a switch swaps those (x86-64) or is swapcontext elsewhere. The
 * sanitizers are told of each switch. A warp runs until all its threads stand at a barrier of the block or have ended, warp
 * after warp; then the barrier opens. A shuffle is a meeting of the warp alone, over two sets of slots in turn, so that nobody
 * overwrites what is yet to be read. */
#include "tests/cuda/emu_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EMU_TSAN 1
#endif
#if __has_feature(address_sanitizer)
#define EMU_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define EMU_ASAN 1
#endif
#if defined(EMU_ASAN)
#include <sanitizer/asan_interface.h>
#endif
#if defined(EMU_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

enum { THREADS_MAX = 1024, STACK_BYTES = 128 << 10, FRAMES_BYTES = 4096 };
enum state { READY, AT_SHUFFLE, AT_BARRIER, ENDED };

/* switch_to(from, to): keeps the registers that a call keeps, and the stack, in *from; goes on where `to` stopped. */
#if defined(__x86_64__)
typedef void *place_t;
__asm__(".pushsection .text\n.type emu_switch, @function\nemu_switch:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n.popsection\n");
void emu_switch(place_t *from, place_t to);

static void switch_to(place_t *from, const place_t *to)
{
    emu_switch(from, *to);
}

/* Six registers and where to return to; the stack is 8 past a multiple of 16 there, as after a call. */
static void place_new(place_t *p, char *stack, size_t size_bytes, void (*start)(void))
{
    void **top = (void **)(void *)(stack + size_bytes) - 1;
    *--top = (void *)(uintptr_t)start;
    for (int i = 0; i < 6; i++)
        *--top = NULL;
    *p = top;
}
#else
typedef ucontext_t place_t;

static void switch_to(place_t *from, const place_t *to)
{
    swapcontext(from, to);
}

static void place_new(place_t *p, char *stack, size_t size_bytes, void (*start)(void))
{
    ASSERT(getcontext(p) == 0);
    p->uc_stack.ss_sp = stack;
    p->uc_stack.ss_size = size_bytes;
    p->uc_link = NULL;
    makecontext(p, start, 0);
}
#endif

struct fiber {
    place_t place;
    char *stack;
#if defined(EMU_TSAN)
    void *tsan;
#endif
    enum state state;
    bool is_begun, is_left;     /* left in the middle */
    int kind;                   /* of barrier: 0 plain, 1 with an answer */
    unsigned shuffles;
};

static struct fiber fibers[THREADS_MAX];
static place_t scheduler;
#if defined(EMU_TSAN)
static void *scheduler_tsan;
#endif
#if defined(EMU_ASAN)
static const void *scheduler_stack;
static size_t scheduler_stack_bytes;
#endif
static unsigned current;
static emu_kernel kernel;
static const void *kernel_args;
static float slot[2][THREADS_MAX];
static struct { struct gpu_mma_a a; uint32_t b[2]; } fragment[2][THREADS_MAX];
static bool answer, next_answer, is_descending;
static unsigned long block_number;
_Thread_local struct gpu_place gpu_emu_at;

void emu_set_descending(bool descends)
{
    is_descending = descends;
}

static void leave(bool is_last)
{
    struct fiber *f = &fibers[current];
    (void)is_last;
#if defined(EMU_ASAN)
    void *fake = NULL;
    __sanitizer_start_switch_fiber(is_last ? NULL : &fake, scheduler_stack, scheduler_stack_bytes);
#endif
#if defined(EMU_TSAN)
    __tsan_switch_to_fiber(scheduler_tsan, 0);
#endif
    switch_to(&f->place, &scheduler);
#if defined(EMU_ASAN)
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

static void fiber_main(void)
{
#if defined(EMU_ASAN)
    __sanitizer_finish_switch_fiber(NULL, &scheduler_stack, &scheduler_stack_bytes);
#endif
    kernel(kernel_args);
    fibers[current].state = ENDED;
    leave(true);
}

static void go_on(unsigned thread)
{
    struct fiber *f = &fibers[thread];
    current = thread;
    gpu_emu_at.thread = thread;
    if (!f->is_begun) {
        if (!f->stack) {
            f->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            ASSERT(f->stack != MAP_FAILED);
        }
#if defined(EMU_ASAN)                   /* the frames of the last kernel's end never returned; after a failure more did not */
        size_t old = f->is_left ? STACK_BYTES : FRAMES_BYTES;
        ASAN_UNPOISON_MEMORY_REGION(f->stack + STACK_BYTES - old, old);
#endif
        place_new(&f->place, f->stack, STACK_BYTES, fiber_main);
        f->is_begun = true;
#if defined(EMU_TSAN)
        f->tsan = f->tsan ? f->tsan : __tsan_create_fiber(0);
#endif
    }
#if defined(EMU_ASAN)
    void *fake = NULL;
    __sanitizer_start_switch_fiber(&fake, f->stack, STACK_BYTES);
#endif
#if defined(EMU_TSAN)
    scheduler_tsan = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(f->tsan, 0);
#endif
    switch_to(&scheduler, &f->place);
#if defined(EMU_ASAN)
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

static unsigned in_order(unsigned i, unsigned n)
{
    return is_descending ? n - 1 - i : i;
}

/* Until nobody of the warp can go on. */
static int run_warp(const char *name, unsigned first)
{
    for (;;) {
        unsigned meeting = 0, others = 0;
        for (unsigned i = 0; i < GPU_WARP; i++) {
            unsigned t = first + in_order(i, GPU_WARP);
            if (fibers[t].state == READY)
                go_on(t);
        }
        for (unsigned i = 0; i < GPU_WARP; i++)
            *(fibers[first + i].state == AT_SHUFFLE ? &meeting : &others) += 1;
        if (!meeting)
            return 0;
        if (others)
            return emu_fail("%s: %u threads of a warp shuffle and %u do not", name, meeting, others);
        for (unsigned i = 0; i < GPU_WARP; i++)
            fibers[first + i].state = READY;
    }
}

/* What the threads of a block wait for: *ret_over, or the barrier opens. */
static int meet(const char *name, unsigned threads, bool *ret_over)
{
    unsigned ended = 0, kinds = 0;
    for (unsigned i = 0; i < threads; i++) {
        ended += fibers[i].state == ENDED;
        kinds += fibers[i].state == AT_BARRIER && fibers[i].kind;
    }
    *ret_over = ended == threads;
    if (ended && !*ret_over)
        return emu_fail("%s: %u of %u threads have ended and the others wait at a barrier", name, ended, threads);
    if (kinds && kinds != threads)
        return emu_fail("%s: the threads of a block wait at different barriers", name);
    answer = next_answer;
    next_answer = false;
    for (unsigned i = 0; i < threads && !*ret_over; i++)
        fibers[i].state = READY;
    return 0;
}

static int run_block(const char *name, unsigned threads)
{
    bool is_over = false;
    next_answer = false;
    block_number++;
    for (unsigned i = 0; i < threads; i++) {
        struct fiber *f = &fibers[i];
        f->is_left = f->is_begun && f->state != ENDED;
        f->state = READY;
        f->is_begun = false;
        f->shuffles = 0;
    }
    while (!is_over) {
        for (unsigned w = 0; w < threads / GPU_WARP; w++) {
            int code = run_warp(name, in_order(w, threads / GPU_WARP) * GPU_WARP);
            if (code)
                return code;
        }
        int code = meet(name, threads, &is_over);
        if (code)
            return code;
    }
    return 0;
}

int emu_run_grid(const char *name, emu_kernel k, const void *args, unsigned x, unsigned y, unsigned z, unsigned threads)
{
    if (!threads || threads > THREADS_MAX || threads % GPU_WARP)
        return emu_fail("%s: blocks of %u threads", name, threads);
    kernel = k;
    kernel_args = args;
    gpu_emu_at.threads = threads;
    for (unsigned long i = 0, n = (unsigned long)x * y * z; i < n; i++) {
        unsigned long at = is_descending ? n - 1 - i : i;
        gpu_emu_at.block[0] = (unsigned)(at % x);
        gpu_emu_at.block[1] = (unsigned)(at / x % y);
        gpu_emu_at.block[2] = (unsigned)(at / x / y);
        int code = run_block(name, threads);
        if (code)
            return code;
    }
    return 0;
}

/* NaN in every type of float, once for each block and room. */
void gpu_emu_shared(void *room, size_t size_bytes)
{
    enum { ROOMS = 64 };
    static struct { void *room; unsigned long block; } seen[ROOMS];
    for (int i = 0; i < ROOMS; i++) {
        if (seen[i].room == room && seen[i].block == block_number)
            return;
        if (seen[i].room == room || !seen[i].room) {
            seen[i].room = room;
            seen[i].block = block_number;
            memset(room, 0xff, size_bytes);
            return;
        }
    }
    ASSERT(!"more rooms of shared memory than the runner knows");
}

void gpu_emu_barrier(void)
{
    fibers[current].state = AT_BARRIER;
    fibers[current].kind = 0;
    leave(false);
}

bool gpu_emu_barrier_or(bool is_true)
{
    next_answer = next_answer || is_true;
    fibers[current].state = AT_BARRIER;
    fibers[current].kind = 1;
    leave(false);
    return answer;
}

float gpu_emu_shuffle_down(float v, unsigned by)
{
    unsigned me = current, set = fibers[me].shuffles++ % 2, lane = me % GPU_WARP;
    slot[set][me] = v;
    fibers[me].state = AT_SHUFFLE;
    leave(false);
    return slot[set][lane + by < GPU_WARP ? me + by : me];
}

/* Number `which` (0, 1) of a pair of bf16. */
static float half_of(uint32_t pair, unsigned which)
{
    union { uint32_t u; float f; } x = { which ? pair & 0xffff0000u : pair << 16 };
    return x.f;
}

/* The warp lays its fragments down and meets; then each thread adds up its own four results, k ascending. */
void gpu_emu_mma(float d[4], struct gpu_mma_a a, uint32_t b0, uint32_t b1)
{
    unsigned me = current, set = fibers[me].shuffles++ % 2, first = me - me % GPU_WARP, group = me % GPU_WARP / 4, place = me % 4;
    fragment[set][me].a = a;
    fragment[set][me].b[0] = b0;
    fragment[set][me].b[1] = b1;
    fibers[me].state = AT_SHUFFLE;
    leave(false);
    for (unsigned e = 0; e < 4; e++)
        for (unsigned k = 0; k < 16; k++) {             /* row of a: group, or group + 8; column of b: 2·place, or the next */
            unsigned of_a = first + 4 * group + k % 8 / 2, of_b = first + 4 * (2 * place + e % 2) + k % 8 / 2;
            float x = half_of(fragment[set][of_a].a.v[e / 2 + k / 8 * 2], k % 2);
            float y = half_of(fragment[set][of_b].b[k / 8], k % 2);
            d[e] = __builtin_fmaf(x, y, d[e]);
        }
}
