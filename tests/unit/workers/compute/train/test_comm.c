/* SPDX-License-Identifier: Apache-2.0 */
/* test_comm.c - the order of sums, pieces that need not divide, and transports that a build or a lease lacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "workers/compute/train/comm.h"

enum { N = 1300 };
static float x[COMM_RANKS_MAX][N], want[N];

/* Numbers whose sum depends on its order. */
static void fill(void)
{
    uint32_t u = 1;
    for (int r = 0; r < COMM_RANKS_MAX; r++)
        for (int i = 0; i < N; i++) {
            u = u * 1664525u + 1013904223u;
            x[r][i] = ((float)(u >> 8) / 8388608.0f - 1) * (float)(1u << (u >> 28));
        }
}

static void test_the_sum_is_a_binary_tree(void **st)
{
    float *const p[] = { x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7] };
    float out[N];
    int differs = 0;
    (void)st;
    fill();
    comm_sum(out, p, 0, N, 8, 8);
    for (int i = 0; i < N; i++) {
        want[i] = ((x[0][i] + x[1][i]) + (x[2][i] + x[3][i])) + ((x[4][i] + x[5][i]) + (x[6][i] + x[7][i]));
        float chain = ((((((x[0][i] + x[1][i]) + x[2][i]) + x[3][i]) + x[4][i]) + x[5][i]) + x[6][i]) + x[7][i];
        differs += chain != want[i];
    }
    assert_memory_equal(out, want, sizeof out);
    assert_true(differs > N / 4);               /* else the order would not be tested */
    for (int i = 0; i < N; i++)
        want[i] = ((x[0][i] + x[1][i]) + (x[2][i] + x[3][i])) + x[4][i];
    comm_sum(out, p, 0, N, 8, 5);               /* ranks 5 to 7 had no batch */
    assert_memory_equal(out, want, sizeof out);
}

/* Two ranks with four lanes' sums each, or four with two, make what one makes of eight. */
static void test_blocks_are_nodes_of_the_tree(void **st)
{
    float *const p[] = { x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7] };
    static float node[4][N];
    float out[N], *const pair[] = { node[0], node[1], node[2], node[3] };
    (void)st;
    fill();
    for (int present = 1; present <= 8; present++) {
        comm_sum(want, p, 0, N, 8, present);
        for (int size = 2; size <= 4; size *= 2) {
            int lanes = 8 / size, has = (present + lanes - 1) / lanes;
            for (int r = 0; r < has; r++)
                comm_sum(node[r], p + r * lanes, 0, N, lanes, present - r * lanes < lanes ? present - r * lanes : lanes);
            comm_sum(out, pair, 0, N, size, has);
            assert_memory_equal(out, want, sizeof out);
        }
    }
}

static void test_pieces_cover_all_and_need_not_divide(void **st)
{
    (void)st;
    assert_int_equal(comm_piece(1024, 4), 256);
    assert_int_equal(comm_piece(1025, 4), 512);
    assert_int_equal(comm_piece(1, 8), 256);
    for (size_t n = 1; n < 5000; n += 37)
        for (int size = 1; size <= 8; size *= 2)
            assert_true(comm_piece(n, size) * (size_t)size >= n && comm_piece(n, size) % COMM_PIECE_OF == 0);
    assert_true(comm_is_size(1) && comm_is_size(8) && !comm_is_size(3) && !comm_is_size(16) && !comm_is_size(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_sum_is_a_binary_tree),
        cmocka_unit_test(test_blocks_are_nodes_of_the_tree),
        cmocka_unit_test(test_pieces_cover_all_and_need_not_divide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
