/* SPDX-License-Identifier: Apache-2.0 */
/* emu_run.c - a grid on one thread of the processor: fibers that give way at barriers and shuffles.
 *
 * A fiber is a stack and the registers that a call keeps; a switch swaps those (x86-64) or is swapcontext elsewhere. The
 * sanitizers are told of each switch. A warp runs until all its threads stand at a barrier of the block or have ended, warp
 * after warp; then the barrier opens. A shuffle is a meeting of the warp alone, over two sets of slots in turn, so that nobody
 * overwrites what is yet to be read (emu_warp.c has the words). */
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

enum { THREADS_MAX = EMU_THREADS_MAX, STACK_BYTES = 128 << 10, FRAMES_BYTES = 4096 };
enum state { READY, AT_MEETING, AT_BARRIER, ENDED };

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
    int kind;                   /* of barrier: 0 plain, 1 with an answer; of meeting: its word */
    unsigned meetings;
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
static bool answer, next_answer, is_descending;
static unsigned long block_number;
static size_t shared_most;
enum { DYNAMIC_MOST = 227 << 10, DYNAMIC_ROOM = 256 << 10 };
__attribute__((aligned(1024))) unsigned char gpu_emu_dynamic[DYNAMIC_ROOM];
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
            *(fibers[first + i].state == AT_MEETING ? &meeting : &others) += 1;
        if (!meeting)
            return 0;
        if (others)
            return emu_fail("%s: %u threads of a warp shuffle and %u do not", name, meeting, others);
        for (unsigned i = 1; i < GPU_WARP; i++)
            if (fibers[first + i].kind != fibers[first].kind)
                return emu_fail("%s: the threads of a warp meet at different words", name);
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

/* NaN in every type of float; what lies behind it is closed. */
static void fill_dynamic(unsigned shared_bytes)
{
#if defined(EMU_ASAN)
    ASAN_POISON_MEMORY_REGION(gpu_emu_dynamic, DYNAMIC_ROOM);
    ASAN_UNPOISON_MEMORY_REGION(gpu_emu_dynamic, shared_bytes);
#endif
    memset(gpu_emu_dynamic, 0xff, shared_bytes);
}

static int run_block(const char *name, unsigned threads, unsigned shared_bytes)
{
    bool is_over = false;
    next_answer = false;
    block_number++;
    fill_dynamic(shared_bytes);
    for (unsigned i = 0; i < threads; i++) {
        struct fiber *f = &fibers[i];
        f->is_left = f->is_begun && f->state != ENDED;
        f->state = READY;
        f->is_begun = false;
        f->meetings = 0;
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

void emu_set_shared(size_t size_bytes)
{
    ASSERT(size_bytes <= DYNAMIC_MOST);
    shared_most = size_bytes;
}

size_t emu_shared_most(void)
{
    return shared_most ? shared_most : DYNAMIC_MOST;
}

int emu_run_grid(const char *name, emu_kernel k, const void *args, unsigned x, unsigned y, unsigned z, unsigned threads,
                 unsigned shared_bytes)
{
    if (shared_bytes > emu_shared_most())
        return emu_fail("%s: blocks with %u bytes of shared memory", name, shared_bytes);
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
        int code = run_block(name, threads, shared_bytes);
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

unsigned emu_next_meeting(void)
{
    return fibers[current].meetings % 2;
}

unsigned emu_meet(enum emu_word word)
{
    unsigned which = emu_next_meeting();
    fibers[current].meetings++;
    fibers[current].state = AT_MEETING;
    fibers[current].kind = (int)word;
    leave(false);
    return which;
}

unsigned emu_thread(void)
{
    return current;
}

unsigned long emu_block(void)
{
    return block_number;
}
