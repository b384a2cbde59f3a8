/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_challenge.c - what a registry's WWW-Authenticate and Location say, and references as people write them. What is taken
 * keeps the form that it must have: a host that is one, a path that begins with a slash and has no line's end in it. */
/* USES: workers_image core_job core_base */
#include <stdlib.h>
#include <string.h>
#include "core/wire/image_ref.h"
#include "workers/image/challenge.h"

static void check(struct str host, struct str path)
{
    struct str name;
    int port;
    if (!image_host_parse(host, &name, &port) || !path.len || path.ptr[0] != '/' || memchr(path.ptr, '\n', path.len) ||
        memchr(path.ptr, '\r', path.len))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(16 << 20);
    const struct str text = str_n((const char *)data, size);
    struct str host, path;
    struct image_ref ref;
    struct err e = { 0 };
    const struct challenge c = challenge_read(text, a);
    if (c.kind == CHALLENGE_BEARER)
        check(c.host, c.path);
    if (challenge_url(text, a, &host, &path))
        check(host, path);
    if (image_ref_parse(text, &ref, &e) == ERR_OK && (!ref.name.len || ref.digest.len != 71))
        abort();
    arena_free(a);
    return 0;
}
