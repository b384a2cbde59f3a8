/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c - libcuda.so.1 by dlopen, its functions by name. The library is never closed: it has threads of its own. */
#include "workers/compute/kernels/cuda/driver.h"

#include "core/base/library.h"

static const struct library_call calls[] = {
#define CALL(name, symbol, arguments) { symbol, offsetof(struct gpu_driver, name) },
#include "workers/compute/kernels/cuda/driver.def"
#undef CALL
};

enum errc gpu_driver_open(const char *path, struct gpu_driver *ret, struct err *e)
{
    struct gpu_driver d = { 0 };
    struct err why;
    void *library;
    TRY(library_open(path, "GPU driver", &library, e));
    if (library_fill(library, path, calls, sizeof calls / sizeof *calls, &d, &why) != ERR_OK)
        return FAIL(e, UNAVAILABLE, "the GPU driver %.180s; a newer driver is needed", why.msg);
    *ret = d;
    return ERR_OK;
}
