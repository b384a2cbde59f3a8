/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_csv.c - any bytes as a table. What csv_check accepts, csv_read must accept with the same shape, and the other way round;
 * and the text in pieces gets the verdict of the whole. */
/* USES: core_base core_data */
#include <math.h>
#include <stdlib.h>

#include "core/data/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum errc in_pieces(struct arena *a, struct str text, size_t step, const struct data_schema *schema, struct data_table *ret, struct err *e)
{
    struct csv_checker *c;
    TRY(csv_checker_new(a, schema, &c, e));
    for (size_t at = 0; at < text.len; at += step)
        TRY(csv_checker_add(c, text.ptr + at, text.len - at < step ? text.len - at : step, e));
    return csv_checker_end(c, ret, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct str words[] = { { "word", 4 } };
    static const struct data_schema numbers = { .label = { "label", 5 }, .classes = 10 },
                                    mixed = { .label = { "label", 5 }, .classes = 10, .categories = { words, 1 },
                                              .has_missing = true };
    const struct data_schema schema = size && data[0] == 'w' ? mixed : numbers;      /* a header that begins with a word */
    struct arena *a = arena_new((size_t)64 << 20);
    struct str text = str_n((const char *)data, size);
    struct data_table checked, read;
    struct err e, e2;
    enum errc rc = csv_check(a, text, &schema, &checked, &e), rc2 = csv_read(a, text, &schema, &read, &e2);
    if (rc != rc2 && rc2 != ERR_LIMIT)
        abort();
    struct data_table pieces;
    enum errc rc3 = in_pieces(a, text, 1 + size % 13, &schema, &pieces, &e2);
    if (rc != rc3 && rc3 != ERR_LIMIT)
        abort();
    if (rc == ERR_OK && rc3 == ERR_OK && (checked.rows != pieces.rows || checked.cols != pieces.cols))
        abort();
    if (rc == ERR_OK && rc2 == ERR_OK) {
        if (checked.rows != read.rows || checked.cols != read.cols || checked.word_count != read.word_count)
            abort();
        for (size_t i = 0; i < read.rows * read.cols; i++)
            if (!isfinite(read.x[i]) && !(schema.has_missing && isnan(read.x[i])))
                abort();
        for (size_t i = 0; i < read.rows; i++)
            if (read.labels[i] < 0 || read.labels[i] >= 10)
                abort();
    }
    arena_free(a);
    return 0;
}
