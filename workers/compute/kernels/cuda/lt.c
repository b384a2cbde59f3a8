/* SPDX-License-Identifier: Apache-2.0 */
/* lt.c - the library by dlopen, its functions by name. */
#include "workers/compute/kernels/cuda/lt.h"

#include <string.h>
#include "core/base/library.h"

/* What its makers recommend for cards of the newest generations is half of it: sums in parts of wide gradients want more. */
enum { ROOM_BYTES = 64 << 20 };
enum { JOINED = 124 };                  /* bytes of each reason, of 256 */

static const struct library_call calls[] = {
#define CALL(name, symbol, arguments) { symbol, offsetof(struct lt_api, name) },
#include "workers/compute/kernels/cuda/lt.def"
#undef CALL
};

enum errc lt_open(const char *setting, struct lt_api *ret, struct err *e)
{
    static const char *const usual[] = { "libcublasLt.so.13", "libcublasLt.so.12" };
    const char *const named[] = { setting, NULL };
    const char *const *paths = !strcmp(setting, "auto") ? usual : named;
    struct lt_api api = { .room_bytes = ROOM_BYTES };
    struct err why[2] = { { 0 } };
    for (int i = 0; i < 2 && paths[i]; i++) {
        void *library;
        if (library_open(paths[i], "cuBLASLt", &library, &why[i]) != ERR_OK)
            continue;
        TRY(library_fill(library, paths[i], calls, sizeof calls / sizeof *calls, &api, e));
        *ret = api;
        return ERR_OK;
    }
    return FAIL(e, UNAVAILABLE, "%.*s%s%.*s", JOINED, why[0].msg, why[1].msg[0] ? "; " : "", JOINED, why[1].msg);
}
