/* SPDX-License-Identifier: Apache-2.0 */
/* mask.c - a trie of all values with links to the longest suffix that is a beginning of one. The depth of the node that a
 * stream has reached is how many of its last bytes may yet become a value: what lies before them is told. Children are a list,
 * since nearly all nodes have one; the root's are a table. */
#include "workers/lease/mask.h"

#include <stdlib.h>
#include <string.h>
#include "core/base/cleanup.h"
#include "core/crypto/secmem.h"

struct node {
    uint32_t child, sibling, link;  /* 0: none, the root */
    uint32_t next;                  /* in order of levels, once ready */
    uint32_t depth, length;         /* length: of the longest value that ends here */
    unsigned char byte;
};

struct mask {
    struct node *nodes;             /* the root is the first */
    size_t n, room, longest;
    uint32_t of_root[256];
};

enum { FIRST_ROOM = 4096 };

enum errc mask_new(struct mask **ret, struct err *e)
{
    struct mask *m = calloc(1, sizeof *m);
    if (m)
        m->nodes = calloc(FIRST_ROOM, sizeof *m->nodes);
    if (!m || !m->nodes) {
        free(m);
        return FAIL(e, LIMIT, "no memory to keep secrets out of the log");
    }
    m->n = 1;
    m->room = FIRST_ROOM;
    *ret = m;
    return ERR_OK;
}

void mask_free(struct mask *m)
{
    if (!m)
        return;
    secret_wipe(m->nodes, m->room * sizeof *m->nodes);
    free(m->nodes);
    secret_wipe(m, sizeof *m);
    free(m);
}

static uint32_t child_of(const struct mask *m, uint32_t at, unsigned char byte)
{
    uint32_t c = at ? m->nodes[at].child : m->of_root[byte];
    while (at && c && m->nodes[c].byte != byte)
        c = m->nodes[c].sibling;
    return c;
}

static bool room_alloc(struct mask *m)
{
    struct node *more = m->n < m->room ? m->nodes : calloc(2 * m->room, sizeof *more);
    if (!more || more == m->nodes)
        return more != NULL;
    memcpy(more, m->nodes, m->n * sizeof *more);
    secret_wipe(m->nodes, m->n * sizeof *more);
    free(m->nodes);
    m->nodes = more;
    m->room *= 2;
    return true;
}

static enum errc add_one(struct mask *m, struct str value, struct err *e)
{
    uint32_t at = 0;
    for (size_t i = 0; i < value.len; i++) {
        const unsigned char byte = (unsigned char)value.ptr[i];
        uint32_t next = child_of(m, at, byte);
        if (!next) {
            if (m->n > MASK_BYTES_MAX || !room_alloc(m))
                return FAIL(e, LIMIT, "the secrets of one program have at most %d bytes", MASK_BYTES_MAX);
            next = (uint32_t)m->n++;
            m->nodes[next] = (struct node){ .sibling = at ? m->nodes[at].child : 0, .depth = m->nodes[at].depth + 1,
                .byte = byte };
            *(at ? &m->nodes[at].child : &m->of_root[byte]) = next;
        }
        at = next;
    }
    m->nodes[at].length = m->nodes[at].depth;
    if (m->nodes[at].depth > m->longest)
        m->longest = m->nodes[at].depth;
    return ERR_OK;
}

static struct str without_ends(struct str s)
{
    while (s.len && (s.ptr[s.len - 1] == '\n' || s.ptr[s.len - 1] == '\r'))
        s.len--;
    return s;
}

enum errc mask_add(struct mask *m, struct str value, struct err *e)
{
    struct str rest = without_ends(value), line;
    if (rest.len < MASK_LEAST)
        return FAIL(e, INVALID, "a secret of fewer than %d bytes cannot be kept out of the log", MASK_LEAST);
    TRY(add_one(m, rest, e));
    for (bool more = true; more;) {
        more = str_cut(rest, '\n', &line, &rest);
        line = without_ends(line);
        if (line.len >= MASK_LEAST)
            TRY(add_one(m, line, e));
    }
    return ERR_OK;
}

static uint32_t step(const struct mask *m, uint32_t at, unsigned char byte)
{
    uint32_t next = child_of(m, at, byte);
    while (at && !next) {
        at = m->nodes[at].link;
        next = child_of(m, at, byte);
    }
    return next;
}

/* Level by level, since a node's link is found by its parent's and is of a level above. */
void mask_ready(struct mask *m)
{
    uint32_t head = 0, tail = 0;
    for (int b = 0; b < 256; b++)
        if (m->of_root[b])
            tail = m->nodes[tail].next = m->of_root[b];
    while ((head = m->nodes[head].next)) {
        struct node *own = &m->nodes[head];
        if (m->nodes[own->link].length > own->length)
            own->length = m->nodes[own->link].length;
        for (uint32_t c = own->child; c; c = m->nodes[c].sibling) {
            m->nodes[c].link = step(m, own->link, m->nodes[c].byte);
            tail = m->nodes[tail].next = c;
        }
    }
}

enum errc mask_begin(struct mask_stream *s, const struct mask *m, void (*tell)(void *ctx, char c), void *ctx, struct err *e)
{
    *s = (struct mask_stream){ .mask = m, .tell = tell, .ctx = ctx };
    if (!m)
        return ERR_OK;
    s->room = m->longest + 1;
    s->parts_room = s->room / MASK_LEAST + 2;       /* none is shorter, and the first may be told in part */
    s->held = calloc(s->room, sizeof *s->held);
    s->parts = calloc(s->parts_room, sizeof *s->parts);
    return s->held && s->parts ? ERR_OK : FAIL(e, LIMIT, "no memory to keep secrets out of the log");
}

/* What came last, length bytes, is a value: one part with those that it touches. */
static void note_value(struct mask_stream *s, uint64_t length)
{
    struct mask_part part = { s->came - length, s->came };
    while (s->n) {
        const struct mask_part *last = &s->parts[(s->first + s->n - 1) % s->parts_room];
        if (last->to < part.from)
            break;
        if (last->from < part.from)
            part.from = last->from;
        s->n--;
    }
    s->parts[(s->first + s->n++) % s->parts_room] = part;
}

static void tell_next(struct mask_stream *s)
{
    while (s->n && s->parts[s->first].to <= s->told) {
        s->first = (s->first + 1) % s->parts_room;
        s->n--;
    }
    const bool is_secret = s->n && s->parts[s->first].from <= s->told;
    if (!is_secret)
        s->tell(s->ctx, s->held[s->told % s->room]);
    for (const char *c = MASK_STARS; is_secret && !s->in_secret && *c; c++)
        s->tell(s->ctx, *c);
    s->in_secret = is_secret;
    s->told++;
}

static void feed_one(struct mask_stream *s, char byte)
{
    s->held[s->came++ % s->room] = byte;
    s->node = step(s->mask, s->node, (unsigned char)byte);
    const struct node *node = &s->mask->nodes[s->node];
    if (node->length)
        note_value(s, node->length);
    while (s->came - s->told > node->depth)
        tell_next(s);
}

void mask_feed(struct mask_stream *s, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s->mask)
            feed_one(s, p[i]);
        else
            s->tell(s->ctx, p[i]);
}

void mask_flush(struct mask_stream *s)
{
    while (s->told < s->came)
        tell_next(s);
    s->node = 0;
}

void mask_end(struct mask_stream *s)
{
    if (s->held)
        secret_wipe(s->held, s->room);
    free(s->held);
    free(s->parts);
    *s = (struct mask_stream){ .tell = s->tell, .ctx = s->ctx };
}
