/* SPDX-License-Identifier: Apache-2.0 */
/* emu_warp.c - the words of gpu.h that a warp speaks together, and copies under way to shared memory, on the processor.
 *
 * Each thread lays down what it brings, meets the others, and takes its own result. What a copy brings arrives when its thread
 * waits for its group and not before; until then its 16 bytes hold NaN, from the moment it was begun. */
#include <math.h>
#include <string.h>

#include "tests/cuda/emu_int.h"

enum { COPIES_MAX = 256, COPY_BYTES = 16 };     /* under way of one thread */

float gpu_emu_shuffle_down(float v, unsigned by)
{
    static float slot[2][EMU_THREADS_MAX];
    unsigned me = emu_thread();
    slot[emu_next_meeting()][me] = v;
    unsigned set = emu_meet(WORD_SHUFFLE);
    return slot[set][me % GPU_WARP + by < GPU_WARP ? me + by : me];
}

float gpu_emu_shuffle_xor(float v, unsigned by)
{
    static float slot[2][EMU_THREADS_MAX];
    unsigned me = emu_thread();
    ASSERT(by < GPU_WARP);
    slot[emu_next_meeting()][me] = v;
    unsigned set = emu_meet(WORD_SHUFFLE);
    return slot[set][me ^ by];
}

uint32_t gpu_ballot(bool is_true)
{
    static bool slot[2][EMU_THREADS_MAX];
    unsigned me = emu_thread(), first = me - me % GPU_WARP;
    uint32_t ret = 0;
    slot[emu_next_meeting()][me] = is_true;
    unsigned set = emu_meet(WORD_BALLOT);
    for (unsigned i = 0; i < GPU_WARP; i++)
        ret |= (uint32_t)slot[set][first + i] << i;
    return ret;
}

void gpu_warp_barrier(void)
{
    emu_meet(WORD_BARRIER);
}

/* Each thread adds up its own four results, k ascending; a product of two bf16 is exact in fp32. Fragments are laid down as
 * numbers: [row / 8][k] and [k] of a lane's. */
void gpu_emu_mma(float *d, struct gpu_mma_a a, uint32_t b0, uint32_t b1)
{
    static struct { float a[2][4], b[4]; } fragment[2][EMU_THREADS_MAX];
    unsigned me = emu_thread(), first = me - me % GPU_WARP, group = me % GPU_WARP / 4, place = me % 4, set = emu_next_meeting();
    for (unsigned r = 0; r < 2; r++)
        for (unsigned k = 0; k < 4; k++)
            fragment[set][me].a[r][k] = k % 2 ? gpu_high(a.v[r + k / 2 * 2]) : gpu_low(a.v[r + k / 2 * 2]);
    fragment[set][me].b[0] = gpu_low(b0), fragment[set][me].b[1] = gpu_high(b0);
    fragment[set][me].b[2] = gpu_low(b1), fragment[set][me].b[3] = gpu_high(b1);
    emu_meet(WORD_MMA);
    for (unsigned e = 0; e < 4; e++) {                  /* row of a: group, or group + 8; column of b: 2·place, or the next */
        unsigned of_a = first + 4 * group, of_b = first + 4 * (2 * place + e % 2);
        float sum = d[e];
        for (unsigned k = 0; k < 16; k++)
            sum += fragment[set][of_a + k % 8 / 2].a[e / 2][k / 8 * 2 + k % 2]
                   * fragment[set][of_b + k % 8 / 2].b[k / 8 * 2 + k % 2];
        d[e] = sum;
    }
}

/* Rows are read when their lane comes, which is before the others may have written them without a barrier. */
static void load_matrices(uint32_t *v, const uint16_t *at, bool is_turned)
{
    static uint16_t row[2][EMU_THREADS_MAX][8];
    unsigned me = emu_thread(), first = me - me % GPU_WARP, group = me % GPU_WARP / 4, place = me % 4, set = emu_next_meeting();
    ASSERT((uintptr_t)at % COPY_BYTES == 0);
    memcpy(row[set][me], at, COPY_BYTES);
    emu_meet(WORD_MATRICES);
    for (unsigned j = 0; j < 4; j++) {
        uint16_t of[2];
        for (unsigned e = 0; e < 2; e++) {
            unsigned r = is_turned ? 2 * place + e : group, c = is_turned ? group : 2 * place + e;
            of[e] = row[set][first + 8 * j + r][c];
        }
        v[j] = of[0] | (uint32_t)of[1] << 16;
    }
}

void gpu_load_matrices(uint32_t *v, const uint16_t *at)
{
    load_matrices(v, at, false);
}

void gpu_load_matrices_turned(uint32_t *v, const uint16_t *at)
{
    load_matrices(v, at, true);
}

/* Copies under way, oldest first, each with the number of its group; of the block that the thread was last seen in. */
static struct under_way {
    unsigned long block;
    unsigned n, groups;
    struct copy {
        void *to;
        const void *from;
        unsigned group;
    } copy[COPIES_MAX];
} under_way[EMU_THREADS_MAX];

static struct under_way *mine(void)
{
    struct under_way *u = &under_way[emu_thread()];
    if (u->block != emu_block()) {
        u->block = emu_block();
        u->n = u->groups = 0;
    }
    return u;
}

void gpu_copy16_async(void *shared, const void *global, bool is_inside)
{
    struct under_way *u = mine();
    ASSERT((uintptr_t)shared % COPY_BYTES == 0 && (!is_inside || (uintptr_t)global % COPY_BYTES == 0) && u->n < COPIES_MAX);
    memset(shared, 0xff, COPY_BYTES);
    u->copy[u->n++] = (struct copy){ shared, is_inside ? global : NULL, u->groups };
}

void gpu_copy_commit(void)
{
    mine()->groups++;
}

void gpu_copy_wait(unsigned n)
{
    struct under_way *u = mine();
    unsigned arrived = 0;
    for (; arrived < u->n && u->copy[arrived].group + n < u->groups; arrived++) {
        const struct copy *c = &u->copy[arrived];
        if (c->from)
            memcpy(c->to, c->from, COPY_BYTES);
        else
            memset(c->to, 0, COPY_BYTES);
    }
    u->n -= arrived;
    memmove(u->copy, u->copy + arrived, u->n * sizeof *u->copy);
}

/* As ex2.approx.ftz: what is subnormal is 0. */
float gpu_inverse(float x)
{
    return 1.0f / x;
}

float gpu_exp2(float x)
{
    float y = exp2f(x);
    return y < 0x1p-126f ? 0 : y;
}

uint32_t gpu_pack(float low, float high)
{
    return bf16_of(low) | (uint32_t)bf16_of(high) << 16;
}
