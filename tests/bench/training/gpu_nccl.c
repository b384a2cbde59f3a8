/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_nccl.c - what the exchanges of a step cost with one rank: its link, the gradients to their owner and all pieces to all,
 * and how long it takes to give a link up. NCCL refuses two ranks on one card, so one card shows the path and its overhead, not
 * its traffic. */
#include "tests/bench/training/gpu_kit.h"
#include "workers/compute/kernels/cards.h"
#include "workers/compute/train/comm_nccl.h"

struct trip {
    struct comm *comm;
    struct buffer *x;
    size_t n;
};

static void go(void *with)
{
    struct trip *t = with;
    const struct comm_cards *k = t->comm->ops->cards;
    size_t piece = comm_piece(t->n, t->comm->size);
    if (k->reduce_scatter(t->comm, "gradients", t->x, t->n, piece, t->comm->size, &failure) != ERR_OK
        || k->all_gather(t->comm, "parameters", t->x, t->n, piece, &failure) != ERR_OK)
        stop("nccl");
}

static bool yes(void *nobody)
{
    (void)nobody;
    return true;
}

/* A link of two of which one never comes: given up at once. Seconds, or -1 when it came to be all the same. */
static double give_up(void)
{
    const struct card_ops *cards = backend_cards(&gpu);
    struct card_link_spec s = { .size = 2, .patience_ms = 5000, .is_over = yes };
    struct card_link *link = NULL;
    struct err why;
    double began = now();
    if (cards->link_id(s.id, &why) != ERR_OK || cards->link_new(ctx, &s, &link, &why) != ERR_OK)
        return now() - began;
    cards->link_free(link);
    return -1;
}

void stage_nccl(void)
{
    size_t n = (arg[0] << 20) / sizeof(float);
    struct comm_local *all = comm_local_new(1);
    struct trip t = { comm_nccl_new(all, 0), room(n, ELEM_F32), n };
    const struct comm_cards *k = t.comm->ops->cards;
    double began = now();
    if (k->join(t.comm, &gpu, ctx, &failure) != ERR_OK)
        stop("nccl");
    double joined = now() - began;
    if (!k->is_joined(t.comm)) {
        printf("{\"stage\": \"nccl\", \"ok\": \"absent\", \"about\": \"%s\"}\n", k->about(t.comm));
    } else {
        double s = seconds_of("nccl", go, &t);
        printf("{\"stage\": \"nccl\", \"about\": \"%s\", \"ranks\": 1, \"mib\": %zu, \"join_ms\": %.1f, \"exchange_ms\": %.3f, "
               "\"give_up_ms\": %.1f}\n", k->about(t.comm), arg[0], joined * 1e3, s * 1e3, give_up() * 1e3);
    }
    k->leave(t.comm);
    gpu.free(ctx, t.x);
    comm_nccl_free(t.comm);
    comm_local_free(all);
}
