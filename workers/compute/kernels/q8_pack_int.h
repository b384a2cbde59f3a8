/* SPDX-License-Identifier: Apache-2.0 */
/* q8_pack_int.h - weights of bytes in panels, as q8_int.h reads them: [slices][quads][QN][4], filled up with 0, and behind all
 * panels the sums of the columns. For q8_int.h, with QN defined. */
static size_t q8_panels(size_t n)
{
    return (n + QN - 1) / QN;
}

static size_t q8_panel_bytes(size_t slices, size_t depth)
{
    return slices * ((depth + 3) / 4) * QN * 4;
}

static size_t q8_pack_bytes(size_t n, size_t slices, size_t depth)
{
    return q8_panels(n) * (q8_panel_bytes(slices, depth) + QN * sizeof(int32_t));
}

struct q8_pack_job {
    const int8_t *w;
    size_t n, slices, depth, w_row;
    int8_t *to;
    int32_t *sums;
};

/* Eight at a time in one word: bytes plus 128, in lanes of 16 bits that are added by a multiplication. */
static int32_t q8_pack_sum(const int8_t *from, size_t n)
{
    const uint64_t low = UINT64_C(0x00ff00ff00ff00ff), bias = UINT64_C(0x8080808080808080), ones = UINT64_C(0x0001000100010001);
    int32_t sum = 0;
    size_t d = 0;
    for (; d + 8 <= n; d += 8) {
        uint64_t v;
        memcpy(&v, from + d, 8);
        v ^= bias;
        sum += (int32_t)(((v & low) + (v >> 8 & low)) * ones >> 48) - 8 * 128;
    }
    for (; d < n; d++)
        sum += from[d];
    return sum;
}

/* Column i of the panel: four bytes behind each other stay so. */
static void q8_pack_column(const int8_t *from, size_t slices, size_t depth, int8_t *to, size_t i)
{
    const size_t quads = (depth + 3) / 4, whole = depth / 4;
    for (size_t s = 0; s < slices; s++, from += depth, to += quads * QN * 4) {
        for (size_t q = 0; q < whole; q++)
            memcpy(to + (q * QN + i) * 4, from + q * 4, 4);
        memcpy(to + (whole * QN + i) * 4, from + whole * 4, depth % 4);
    }
}

static void q8_pack_one(void *arg, size_t task)
{
    const struct q8_pack_job *j = arg;
    const size_t bytes = q8_panel_bytes(j->slices, j->depth), first = task * QN, left = j->n - first;
    const size_t cols = left < QN ? left : QN;
    int8_t *to = j->to + task * bytes;
    if (cols < QN || j->depth % 4)
        memset(to, 0, bytes);
    for (size_t i = 0; i < cols; i++) {
        const int8_t *from = j->w + (first + i) * j->w_row;
        q8_pack_column(from, j->slices, j->depth, to, i);
        j->sums[first + i] = q8_pack_sum(from, j->w_row);
    }
    for (size_t i = cols; i < QN; i++)
        j->sums[first + i] = 0;
}

static void q8_pack(struct backend_ctx *c, const struct tensor *w, size_t n, size_t slices, size_t depth, void *to)
{
    ASSERT(w->type == ELEM_I8 && tensor_count(w) == n * slices * depth);
    size_t all = q8_panels(n), bytes = q8_panel_bytes(slices, depth);
    struct q8_pack_job j = { w->ptr, n, slices, depth, slices * depth, to, (int32_t *)(void *)((char *)to + all * bytes) };
    cpu_split(c, all, (double)(all * bytes), q8_pack_one, &j);
}

static void k_qpack(struct backend_ctx *c, const struct op_call *o)
{
    size_t slices = o->attr.window[0] ? o->attr.window[0] : 1;
    ASSERT(tensor_count(o->out[0]) >= q8_pack_bytes(o->attr.n, slices, o->attr.k / slices));
    q8_pack(c, o->in[0], o->attr.n, slices, o->attr.k / slices, o->out[0]->ptr);
}
