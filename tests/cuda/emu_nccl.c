/* SPDX-License-Identifier: Apache-2.0 */
/* emu_nccl.c - NCCL's table on the processor: ranks that are threads, each with a card of the driver's test form.
 *
 * Calls come back at once; `state` goes on with what was begun, as the library's own thread would. A rank is done with a group
 * when all that it takes is there and all that it sent was taken, so nobody writes over what is still to be read. What one
 * sends another must be taken in the same order and size. A rank that gives up tells nobody: the others wait, as on cards. */
#include "tests/cuda/emu_int.h"
#include "core/base/cleanup.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 8, CALLS_MAX = 64, WORLDS_MAX = 256, VERSION = 22809, GONE = 1, MISUSE = 5, REMOTE = 6 };

struct call {
    bool is_sent, is_done;
    int peer;
    char *at;
    size_t n;
    void *stream;
};
struct rank {
    struct world *world;
    int number, calls;
    unsigned group;                     /* groups begun */
    struct call call[CALLS_MAX];        /* of the last group */
};
static struct world {
    int size, here;
    struct rank *rank[RANKS_MAX];
} worlds[WORLDS_MAX];
static int made, links;
static bool is_missing, is_refusing;
static _Thread_local struct rank *grouping;     /* of the group that the thread is in */
static _Thread_local bool is_open;

int emu_nccl_links(void)
{
    return links;
}

void emu_set_nccl(bool is_there)
{
    is_missing = !is_there;
}

void emu_nccl_refuses(bool refuses)
{
    is_refusing = refuses;
}

static int version(int *ret)
{
    *ret = VERSION;
    return 0;
}

static int id(struct nccl_id *ret)
{
    ALONE;
    *ret = (struct nccl_id){ { 0 } };
    if (is_missing)
        return GONE;
    ASSERT(made < WORLDS_MAX);
    memcpy(ret->internal, &made, sizeof made);
    made++;
    return 0;
}

static int init(void **ret, int size, struct nccl_id of, int number, struct nccl_config *config)
{
    int which;
    ALONE;
    if (is_refusing)
        return GONE;
    memcpy(&which, of.internal, sizeof which);
    if (which < 0 || which >= made || size > RANKS_MAX || number >= size || config->magic != NCCL_MAGIC || config->blocking)
        return MISUSE;
    struct world *w = &worlds[which];
    if (w->rank[number] || (w->size && w->size != size))
        return MISUSE;
    struct rank *r = calloc(1, sizeof *r);
    ASSERT(r);
    *r = (struct rank){ .world = w, .number = number };
    w->size = size;
    w->here++;
    w->rank[number] = r;
    links++;
    *ret = r;
    return NCCL_IN_PROGRESS;
}

/* The first of what `from` sends to rank `to` that was not taken. */
static struct call *next_of(struct rank *from, int to)
{
    for (int i = 0; from && i < from->calls; i++)
        if (from->call[i].is_sent && !from->call[i].is_done && from->call[i].peer == to)
            return &from->call[i];
    return NULL;
}

static int take(struct rank *r, struct call *mine)
{
    struct rank *peer = r->world->rank[mine->peer];
    if (!peer || peer->group != r->group || !peer->calls)
        return NCCL_IN_PROGRESS;                /* it is not so far */
    struct call *its = next_of(peer, r->number);
    const struct gpu_use use = { (gpu_ptr)(uintptr_t)mine->at, mine->n, false, true, true };
    if (!its || its->n != mine->n)
        return MISUSE;
    if (emu_touch("what another card sends", emu_queue_of(mine->stream), &use))
        return GONE;
    emu_open((gpu_ptr)(uintptr_t)its->at, its->n);
    emu_open(use.at, mine->n);
    memmove(mine->at, its->at, mine->n);
    emu_close((gpu_ptr)(uintptr_t)its->at, its->n);
    emu_close(use.at, mine->n);
    its->is_done = mine->is_done = true;
    return 0;
}

static int go_on(struct rank *r)
{
    int left = 0;
    for (int i = 0; i < r->calls; i++) {
        struct call *c = &r->call[i];
        int code = c->is_sent || c->is_done ? 0 : take(r, c);
        if (code && code != NCCL_IN_PROGRESS)
            return code;
        left += !c->is_done;
    }
    return left ? NCCL_IN_PROGRESS : 0;
}

static int state(void *comm, int *ret)
{
    struct rank *r = comm;
    ALONE;
    *ret = r->world->here < r->world->size ? NCCL_IN_PROGRESS : go_on(r);
    return 0;
}

static int leave(void *comm)
{
    struct rank *r = comm;
    ALONE;
    r->world->rank[r->number] = NULL;
    links--;
    free(r);
    return 0;
}

static int group_begin(void)
{
    if (is_open)
        return MISUSE;
    is_open = true;
    grouping = NULL;
    return 0;
}

static int group_end(void)
{
    ALONE;
    if (!is_open)
        return MISUSE;
    is_open = false;
    if (grouping)
        grouping->group++;
    return NCCL_IN_PROGRESS;
}

/* A rank's list is begun anew by its first call of a group; nobody reads it before it is whole. */
static int add(struct rank *r, const struct call *c)
{
    const struct gpu_use use = { (gpu_ptr)(uintptr_t)c->at, c->n, true, false, true };
    ALONE;
    if (!is_open || (grouping && grouping != r) || c->peer < 0 || c->peer >= r->world->size)
        return MISUSE;
    if (!grouping) {
        ASSERT(go_on(r) == 0);
        r->calls = 0;
    }
    grouping = r;
    ASSERT(r->calls < CALLS_MAX);
    emu_queue_tick(emu_queue_of(c->stream));
    if (c->is_sent && emu_touch("what is sent to another card", emu_queue_of(c->stream), &use))
        return GONE;
    r->call[r->calls++] = *c;
    return NCCL_IN_PROGRESS;
}

static int send(const void *from, size_t n, int type, int peer, void *comm, void *stream)
{
    return type == NCCL_BYTES ? add(comm, &(struct call){ true, false, peer, (char *)(uintptr_t)from, n, stream }) : MISUSE;
}

static int recv(void *to, size_t n, int type, int peer, void *comm, void *stream)
{
    return type == NCCL_BYTES ? add(comm, &(struct call){ false, false, peer, to, n, stream }) : MISUSE;
}

static const char *text(int code)
{
    return code == MISUSE ? "invalid usage" : code == REMOTE ? "remote process exited" : "unhandled system error";
}

const struct nccl *emu_nccl(void)
{
    static const struct nccl table = { version, id, init, state, leave, leave, group_begin, group_end, send, recv, text };
    return &table;
}
