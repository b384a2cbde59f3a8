/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_csv.c - any bytes as a table. What csv_check accepts, csv_read must accept with the same shape, and the other way round. */
/* USES: core_base core_data */
#include <math.h>
#include <stdlib.h>

#include "core/data/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct csv_schema schema = { .label = { "label", 5 }, .classes = 10 };
    struct arena *a = arena_new((size_t)64 << 20);
    struct str text = str_n((const char *)data, size);
    struct csv_table checked, read;
    struct err e, e2;
    enum errc rc = csv_check(a, text, &schema, &checked, &e), rc2 = csv_read(a, text, &schema, &read, &e2);
    if (rc != rc2 && rc2 != ERR_LIMIT)
        abort();
    if (rc == ERR_OK && rc2 == ERR_OK) {
        if (checked.rows != read.rows || checked.cols != read.cols)
            abort();
        for (size_t i = 0; i < read.rows * read.cols; i++)
            if (!isfinite(read.x[i]))
                abort();
        for (size_t i = 0; i < read.rows; i++)
            if (read.labels[i] < 0 || read.labels[i] >= 10)
                abort();
    }
    arena_free(a);
    return 0;
}
