/* SPDX-License-Identifier: Apache-2.0 */
/* lt_keep.c - cuBLASLt opened for a context, and the ways that it chose as a text: "version card;kind way room;…", numbers in
 * hexadecimal. A text from outside is taken as it is: a way is asked the library about before it runs (lt_product.c). */
#include "workers/compute/kernels/cuda/lt_int.h"

#include <stdio.h>
#include <string.h>

enum { WORDS = KIND_PARTS + 8 + 1 };    /* of an entry: kind, way, room */
static const uint64_t REFUSED = UINT64_MAX;     /* in place of the room: by own kernels, or in more passes */
_Static_assert(sizeof(struct lt_way) == 8 * sizeof(uint64_t), "a way is eight words");

static bool use(struct backend_ctx *c, const char *setting, bool is_timed, char *ret, size_t size)
{
    struct lt_api api;
    struct err e = { 0 };
    ret[0] = 0;
    if (!setting || !*setting || !strcmp(setting, "off"))
        return false;
    if (lt_open(setting, &api, &e) == ERR_OK && cuda_lt_open(c, &api, is_timed, &e) == ERR_OK) {
        snprintf(ret, size, "products by cuBLASLt %s", c->lt->name);
        return true;
    }
    snprintf(ret, size, "%s: products by own kernels", e.msg);
    return false;
}

const char *cuda_lt_news(struct backend_ctx *c)
{
    if (!c->lt || !c->lt->has_news)
        return NULL;
    c->lt->has_news = false;
    return c->lt->news;
}

void cuda_lt_keep(const struct backend_ctx *c, struct buf *ret)
{
    bool is_first = true;
    for (size_t i = 0; c->lt && i < c->lt->count; i++) {
        const struct lt_entry *n = &c->lt->of[i];
        uint64_t room = n->state == LT_REFUSED ? REFUSED : n->room_bytes;
        if (is_first)
            buf_add_c(ret, c->lt->name);
        is_first = false;
        for (int k = 0; k < KIND_PARTS; k++)
            buf_printf(ret, "%c%llx", k ? ' ' : ';', (unsigned long long)n->kind.of[k]);
        for (int k = 0; k < 8; k++)
            buf_printf(ret, " %llx", (unsigned long long)n->way.of[k]);
        buf_printf(ret, " %llx", (unsigned long long)room);
    }
}

static bool word(struct str s, uint64_t *ret)
{
    uint64_t v = 0;
    for (size_t i = 0; i < s.len; i++) {
        char ch = s.ptr[i];
        int digit = ch >= '0' && ch <= '9' ? ch - '0' : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
        if (digit < 0 || i == 16)
            return false;
        v = v << 4 | (unsigned)digit;
    }
    *ret = v;
    return s.len > 0;
}

static bool entry(struct str s, struct lt_entry *ret)
{
    uint64_t of[WORDS];
    struct str one;
    for (int i = 0; i < WORDS; i++) {
        if (str_cut(s, ' ', &one, &s) != (i + 1 < WORDS) || !word(one, &of[i]))
            return false;
    }
    *ret = (struct lt_entry){ .state = of[WORDS - 1] == REFUSED ? LT_REFUSED : LT_KEPT, .room_bytes = of[WORDS - 1] };
    memcpy(ret->kind.of, of, sizeof ret->kind.of);
    memcpy(ret->way.of, of + KIND_PARTS, sizeof ret->way.of);
    return true;
}

bool cuda_lt_bind(struct backend_ctx *c, struct str text)
{
    struct lt *l = c->lt;
    struct str one;
    if (!l || !str_cut(text, ';', &one, &text) || !str_eq_c(one, l->name))
        return false;
    for (bool more = true; more;) {
        struct lt_entry n;
        more = str_cut(text, ';', &one, &text);
        if (!entry(one, &n))
            return false;
        bool is_known = false;
        for (size_t i = 0; i < l->count; i++)
            is_known = is_known || !memcmp(&l->of[i].kind, &n.kind, sizeof n.kind);
        if (!is_known && l->count < LT_ENTRIES_MAX)
            l->of[l->count++] = n;
    }
    return true;
}

const struct product_library cuda_library = { use, cuda_lt_news, cuda_lt_keep, cuda_lt_bind };
