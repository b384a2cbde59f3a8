/* SPDX-License-Identifier: Apache-2.0 */
/* test_gpu.c - the words of gpu.h in the form that runs on the processor: what each gives, and that a kernel that forgets a wait
 * or a barrier is seen. */
#include "emu_kit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/emu_int.h"
#include "workers/compute/kernels/cuda/gpu.h"

enum { THREADS = 64, STAGES = 3, STAGE = THREADS * 4, ROUNDS = 5 };

/* How a kernel errs. */
enum fault { NONE, NO_WAIT, LAX_WAIT, NO_COMMIT, NO_BARRIER };

struct words_args {
    const float *x;
    float *out;
    uint32_t *pairs;
    enum fault fault;
    unsigned inside;            /* threads that copy what is there */
};

/* A ring of stages, the copies of two under way: out = Σ of what the next thread brought. */
void gpu_emu_ring(const void *at);
GPU_KERNEL(ring, struct words_args, a)
{
    GPU_DYNAMIC(float, room);
    unsigned me = gpu_place().thread, other = (me + 33) % THREADS;
    float sum = 0;
    for (unsigned s = 0; s < STAGES - 1; s++) {
        gpu_copy16_async(room + s * STAGE + 4 * me, a.x + s * STAGE + 4 * me, me < a.inside);
        gpu_copy_commit();
    }
    for (unsigned r = 0; r < ROUNDS; r++) {
        if (a.fault == LAX_WAIT)
            gpu_copy_wait(STAGES - 1);
        else if (a.fault != NO_WAIT)
            gpu_copy_wait(STAGES - 2);
        if (a.fault != NO_BARRIER)
            GPU_BARRIER();
        unsigned next = r + STAGES - 1;
        if (next < ROUNDS)
            gpu_copy16_async(room + next % STAGES * STAGE + 4 * me, a.x + next * STAGE + 4 * me, me < a.inside);
        if (a.fault != NO_COMMIT)
            gpu_copy_commit();
        for (unsigned e = 0; e < 4; e++)
            sum += room[r % STAGES * STAGE + 4 * other + e];
    }
    a.out[me] = sum;
}

static int run(const char *name, void (*kernel)(const void *), const struct words_args *a, unsigned threads,
               unsigned shared_bytes)
{
    return emu_run_grid(name, kernel, a, 1, 1, 1, threads, shared_bytes);
}

static void test_copies(void **st)
{
    (void)st;
    static __attribute__((aligned(16))) float x[ROUNDS * STAGE];
    float out[THREADS];
    for (int i = 0; i < ROUNDS * STAGE; i++)
        x[i] = (float)(i % 97);
    for (int fault = NONE; fault <= NO_BARRIER; fault++) {
        size_t wrong = 0;
        for (int descends = 0; descends < 2; descends++) {
            const struct words_args a = { x, out, NULL, (enum fault)fault, 50 };
            emu_set_descending(descends);
            assert_int_equal(run("ring", gpu_emu_ring, &a, THREADS, STAGES * STAGE * sizeof(float)), 0);
            for (unsigned t = 0; t < THREADS; t++) {
                float want = 0;
                unsigned other = (t + 33) % THREADS;
                for (unsigned i = 0; i < 4 * ROUNDS && other < 50; i++)
                    want += x[i / 4 * STAGE + 4 * other + i % 4];
                wrong += out[t] != want;
                assert_true(out[t] == want || isnan(out[t]) || fault == NO_BARRIER);    /* then also an older round's */
            }
        }
        if (!wrong != (fault == NONE))
            fail_msg("fault %d: %zu wrong numbers", fault, wrong);
    }
    emu_set_descending(false);
    kit_quiet();
}

/* Each lane writes a row and gives another one's address. */
void gpu_emu_rows(const void *at);
GPU_KERNEL(rows, struct words_args, a)
{
    GPU_SHARED(uint16_t, room, 32 * 8);
    unsigned me = gpu_place().thread, other = me ^ 5;
    uint32_t v[4];
    for (unsigned e = 0; e < 8; e++)
        room[8 * me + e] = (uint16_t)(8 * me + e);
    if (a.fault != NO_BARRIER)
        gpu_warp_barrier();
    gpu_load_matrices(v, room + 8 * other);
    for (unsigned j = 0; j < 4; j++)
        a.pairs[4 * me + j] = v[j];
    gpu_load_matrices_turned(v, room + 8 * other);
    for (unsigned j = 0; j < 4; j++)
        a.pairs[128 + 4 * me + j] = v[j];
}

static void test_matrices(void **st)
{
    (void)st;
    uint32_t pairs[256];
    size_t wrong = 0;
    for (int fault = 0; fault < 2; fault++)
        for (int descends = 0; descends < 2; descends++) {
            const struct words_args a = { NULL, NULL, pairs, fault ? NO_BARRIER : NONE, 0 };
            emu_set_descending(descends);
            assert_int_equal(run("rows", gpu_emu_rows, &a, 32, 0), 0);
            for (unsigned t = 0; t < 32; t++)
                for (unsigned j = 0; j < 4; j++) {
                    /* lane 8j + r gives row (8j + r) ^ 5; matrix j, row r, column c is number 8·that + c */
                    unsigned first = 2 * (t % 4), row = 8 * ((8 * j + t / 4) ^ 5) + first;
                    unsigned low = 8 * ((8 * j + first) ^ 5) + t / 4, high = 8 * ((8 * j + first + 1) ^ 5) + t / 4;
                    if (fault)
                        wrong += pairs[4 * t + j] != (row | (row + 1) << 16);
                    else
                        assert_true(pairs[4 * t + j] == (row | (row + 1) << 16) && pairs[128 + 4 * t + j] == (low | high << 16));
                }
        }
    assert_true(wrong > 0);
    emu_set_descending(false);
    kit_quiet();
}

void gpu_emu_butterfly(const void *at);
GPU_KERNEL(butterfly, struct words_args, a)
{
    unsigned me = gpu_place().thread;
    float v = a.x[me];
    for (unsigned by = 16; by; by /= 2)
        v += GPU_SHUFFLE_XOR(v, by);
    a.out[me] = v;
    if (a.fault == NO_BARRIER && me == 3)
        gpu_warp_barrier();
    else
        a.out[me] += GPU_SHUFFLE_XOR(a.x[me], 1);
}

static void test_shuffle_xor(void **st)
{
    (void)st;
    float x[THREADS], out[THREADS];
    for (int i = 0; i < THREADS; i++)
        x[i] = (float)(1 << i % 20);
    struct words_args a = { x, out, NULL, NONE, 0 };
    assert_int_equal(run("butterfly", gpu_emu_butterfly, &a, THREADS, 0), 0);
    for (int t = 0; t < THREADS; t++) {
        float want = x[t ^ 1];
        for (int i = t / 32 * 32; i < t / 32 * 32 + 32; i++)
            want += x[i];
        assert_true(out[t] == want);
    }
    kit_quiet();
    a.fault = NO_BARRIER;
    assert_int_not_equal(run("butterfly", gpu_emu_butterfly, &a, THREADS, 0), 0);
    const char *report = emu_report();
    assert_non_null(report);
    assert_non_null(strstr(report, "butterfly: the threads of a warp meet at different words"));
}

static void test_numbers(void **st)
{
    (void)st;
    static const float x[] = { 0, 1, -1, 0.5f, -2.75f, 1.00390625f, 1.01171875f, -3.3895314e38f, 1e-20f };
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        uint32_t pair = gpu_pack(x[i], -x[i]);
        assert_true(gpu_low(pair) == bf16_to_f32(bf16_of(x[i])) && gpu_high(pair) == -gpu_low(pair));
        if (fabsf(x[i]) < 100)
            assert_true(fabs((double)gpu_exp2(x[i]) - exp2((double)x[i])) <= 3e-7 * exp2((double)x[i]));
    }
    assert_true(isnan(gpu_low(gpu_pack((float)NAN, 1))) && gpu_high(gpu_pack((float)NAN, 1)) == 1);
    assert_true(gpu_exp2(-140) == 0 && isinf(gpu_exp2(200)) && gpu_exp2(-(float)INFINITY) == 0);
}

/* One number past the room ends the program; a room that the card has not is refused. */
static void test_dynamic(void **st)
{
    (void)st;
    static __attribute__((aligned(16))) float x[ROUNDS * STAGE];
    float out[THREADS];
    const struct words_args a = { x, out, NULL, NONE, THREADS };
    emu_set_shared(STAGES * STAGE * sizeof(float) - 1);
    assert_int_not_equal(run("ring", gpu_emu_ring, &a, THREADS, STAGES * STAGE * sizeof(float)), 0);
    assert_non_null(emu_report());
    emu_set_shared(0);
#if defined(__SANITIZE_ADDRESS__)
    for (int is_short = 0; is_short < 2; is_short++) {
        int status;
        pid_t child = fork();
        if (!child) {
            (void)!freopen("/dev/null", "w", stderr);
            alarm(60);
            _exit(run("ring", gpu_emu_ring, &a, THREADS, STAGES * STAGE * sizeof(float) - (is_short ? 16 : 0)));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0) == !is_short);
    }
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_copies),      cmocka_unit_test(test_matrices),
                                        cmocka_unit_test(test_shuffle_xor), cmocka_unit_test(test_numbers),
                                        cmocka_unit_test(test_dynamic) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
