/* SPDX-License-Identifier: Apache-2.0 */
/* library.c - dlopen and dlsym. The linker names the file first itself, in most of its sentences. */
#include "core/base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 160 };                   /* of the linker: a message has 256 bytes in all */

enum errc library_open(const char *path, const char *what, void **ret, struct err *e)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library) {
        *ret = library;
        return ERR_OK;
    }
    const char *why = dlerror();
    const size_t n = strlen(path);
    if (why && !strncmp(why, path, n) && !strncmp(why + n, ": ", 2))
        why += n + 2;
    return FAIL(e, UNAVAILABLE, "this machine has no %s (%s: %.*s)", what, path, WORDS, why ? why : "no reason was given");
}

enum errc library_fill(void *library, const char *path, const struct library_call *calls, size_t n, void *table, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        void *f = dlsym(library, calls[i].symbol);
        if (!f)
            return FAIL(e, UNAVAILABLE, "%s has no %s", path, calls[i].symbol);
        memcpy((char *)table + calls[i].at, &f, sizeof f);
    }
    return ERR_OK;
}
