/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c - libcuda.so.1 by dlopen, its functions by name. The library is never closed: it has threads of its own. */
#include "workers/compute/kernels/cuda/driver.h"

#include <dlfcn.h>
#include <string.h>

static const struct {
    const char *symbol;
    size_t at;
} calls[] = {
#define CALL(name, symbol, arguments) { symbol, offsetof(struct gpu_driver, name) },
#include "workers/compute/kernels/cuda/driver.def"
#undef CALL
};

static enum errc fill(struct gpu_driver *d, void *library, const char *path, struct err *e)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *f = dlsym(library, calls[i].symbol);
        if (!f)
            return FAIL(e, UNAVAILABLE, "the GPU driver %s has no %s; a newer driver is needed", path, calls[i].symbol);
        memcpy((char *)d + calls[i].at, &f, sizeof f);
    }
    return ERR_OK;
}

enum errc gpu_driver_open(const char *path, struct gpu_driver *ret, struct err *e)
{
    struct gpu_driver d = { 0 };
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return FAIL(e, UNAVAILABLE, "this machine has no GPU driver (%s)", path);
    TRY(fill(&d, library, path, e));
    *ret = d;
    return ERR_OK;
}
