/* SPDX-License-Identifier: Apache-2.0 */
/* q8_finish_int.h - what becomes of the sums of a tile: both scales, bias, what is added, ReLU. For q8_int.h, with QN defined. */
/* Half a panel of a row. */
typedef float q8_vec __attribute__((vector_size(QN / 2 * sizeof(float)), aligned(4), may_alias));
typedef int32_t q8_ints __attribute__((vector_size(QN / 2 * sizeof(float)), aligned(4), may_alias));
typedef uint32_t q8_bits __attribute__((vector_size(QN / 2 * sizeof(float)), aligned(4), may_alias));

/* What is added must not join the product before it in one fused step, which rounds once: the same bits in every variant. */
#define Q8_APART(product) __asm__("" : "+m"(product))

/* whole: the sums of half a panel, less their zero points. */
static inline void q8_end(const struct q8 *q, const struct q8_item *at, q8_ints whole, size_t col, float *y, const float *add)
{
    q8_vec scaled = __builtin_convertvector(whole, q8_vec) * (at->scale * *(const q8_vec *)(q->scale + col));
    Q8_APART(scaled);
    q8_vec row = scaled;
    if (q->bias)
        row += *(const q8_vec *)(q->bias + col);
    if (add)
        row += *(const q8_vec *)add;
    if (q->attr->flags & MM_RELU)
        row = (q8_vec)((q8_ints)row & (row > 0));
    *(q8_vec *)y = row;
}

static inline void q8_half(const struct q8 *q, const struct q8_item *at, const int32_t *sum, size_t col, float *y,
                           const float *add)
{
    q8_bits whole = *(const q8_bits *)sum - (uint32_t)at->zero * *(const q8_bits *)(q->sums + col);
    q8_end(q, at, (q8_ints)whole, col, y, add);
}

/* A row of a tile: halves of panels in a register, and what is left one by one. */
static void q8_finish(const struct q8 *q, const struct q8_item *at, const int32_t *sum, size_t col, size_t width, size_t row)
{
    float *y = q->y + row * q->y_row + col;
    const float *add = q->add ? q->add + row * q->y_row + col : NULL;
    for (; width >= QN / 2; width -= QN / 2, col += QN / 2, sum += QN / 2, y += QN / 2, add = add ? add + QN / 2 : NULL)
        q8_half(q, at, sum, col, y, add);
    const float *scale = q->scale + col;
    const int32_t *sums = q->sums + col;
    for (size_t j = 0; j < width; j++)
        y[j] = (float)(int32_t)((uint32_t)sum[j] - (uint32_t)at->zero * (uint32_t)sums[j]) * (at->scale * scale[j]);
    for (size_t j = 0; j < width && q->bias; j++)       /* a loop of its own, for the same reason */
        y[j] += q->bias[col + j];
    for (size_t j = 0; j < width && add; j++)
        y[j] += add[j];
    for (size_t j = 0; j < width && q->attr->flags & MM_RELU; j++)
        y[j] = y[j] > 0 ? y[j] : 0;
}
