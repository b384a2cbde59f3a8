/* SPDX-License-Identifier: Apache-2.0 */
/* decode_plain_int.h - the tile of decode_int.h as it is meant: the reference's form. */
static void decode_tile(enum decode_type type, size_t rows, size_t depth, const float *x, size_t x_row, const char *w, float *sum,
                        bool first)
{
    const float *real = (const void *)w;
    const uint16_t *half = (const void *)w;
    const int8_t *whole = (const void *)w;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < DECODE_NR; j++) {
            float s = first ? 0 : sum[i * DECODE_NR + j];
            for (size_t k = 0; k < depth; k++) {
                size_t at = k * DECODE_NR + j;
                s += x[i * x_row + k]
                     * (type == DECODE_F32 ? real[at] : type == DECODE_BF16 ? bf16_to_f32(half[at]) : (float)whole[at]);
            }
            sum[i * DECODE_NR + j] = s;
        }
}

static float decode_dot(const float *x, const float *y, size_t n)
{
    float s = 0;
    for (size_t i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}

/* x becomes e^(x - the largest); the sum of it. */
static float decode_exp(float *x, size_t n)
{
    float top = x[0], s = 0;
    for (size_t i = 1; i < n; i++)
        top = x[i] > top ? x[i] : top;
    for (size_t i = 0; i < n; i++)
        s += x[i] = expf(x[i] - top);
    return s;
}
