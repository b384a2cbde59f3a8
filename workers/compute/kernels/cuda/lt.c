/* SPDX-License-Identifier: Apache-2.0 */
/* lt.c - the library by dlopen, its functions by name. */
#include "workers/compute/kernels/cuda/lt.h"

#include <dlfcn.h>
#include <string.h>

/* What its makers recommend for cards of the newest generations is half of it: sums in parts of wide gradients want more. */
enum { ROOM_BYTES = 64 << 20 };

static const struct {
    const char *symbol;
    size_t at;
} calls[] = {
#define CALL(name, symbol, arguments) { symbol, offsetof(struct lt_api, name) },
#include "workers/compute/kernels/cuda/lt.def"
#undef CALL
};

static enum errc fill(struct lt_api *api, void *library, const char *path, struct err *e)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *f = dlsym(library, calls[i].symbol);
        if (!f)
            return FAIL(e, UNAVAILABLE, "%s has no %s", path, calls[i].symbol);
        memcpy((char *)api + calls[i].at, &f, sizeof f);
    }
    return ERR_OK;
}

enum errc lt_open(const char *setting, struct lt_api *ret, struct err *e)
{
    static const char *const usual[] = { "libcublasLt.so.13", "libcublasLt.so.12" };
    const char *const named[] = { setting, NULL };
    bool is_auto = !strcmp(setting, "auto");
    const char *const *paths = is_auto ? usual : named;
    struct lt_api api = { .room_bytes = ROOM_BYTES };
    for (int i = 0; i < 2 && paths[i]; i++) {
        void *library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
        if (!library)
            continue;
        TRY(fill(&api, library, paths[i], e));
        *ret = api;
        return ERR_OK;
    }
    return FAIL(e, UNAVAILABLE, "this machine has no cuBLASLt (%s)", is_auto ? "libcublasLt.so.13 or .12" : setting);
}
