/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_npy_table.c - any bytes as a table in .npy: read whole and in pieces, the verdict is the same; what is accepted is
 * finite. */
/* USES: core_base core_data */
#include <math.h>
#include <stdlib.h>

#include "core/data/npy_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum errc in_pieces(struct arena *a, struct str bytes, size_t step, const struct data_schema *s, struct data_table *ret,
                           struct err *e)
{
    struct npy_checker *c;
    TRY(npy_checker_new(a, s, bytes.len, &c, e));
    for (size_t at = 0; at < bytes.len; at += step)
        TRY(npy_checker_add(c, bytes.ptr + at, bytes.len - at < step ? bytes.len - at : step, e));
    return npy_checker_end(c, ret, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct data_schema schema = { .label = { "0", 1 }, .target = TARGET_NUMBER };
    struct arena *a = arena_new((size_t)64 << 20);
    struct str bytes = str_n((const char *)data, size);
    struct data_table whole, pieces;
    struct err e, e2;
    enum errc rc = npy_table_read(a, bytes, &schema, &whole, &e), rc2 = in_pieces(a, bytes, 1 + size % 13, &schema, &pieces, &e2);
    if (rc != rc2 && rc != ERR_LIMIT)
        abort();
    if (rc == ERR_OK) {
        if (whole.rows != pieces.rows || whole.cols != pieces.cols)
            abort();
        for (size_t i = 0; i < whole.rows * whole.cols; i++)
            if (!isfinite(whole.x[i]))
                abort();
        for (size_t i = 0; i < whole.rows; i++)
            if (!isfinite(whole.targets[i]))
                abort();
    }
    arena_free(a);
    return 0;
}
