/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_oci.c - any bytes as an image's archive, unpacked into a folder; and as a bare tar, and as a gzip stream of one.
 * Nothing may crash, read out of bounds, leak, or write outside of the folder. */
/* USES: core_base core_crypto core_json workers_image */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "workers/image/gunzip.h"
#include "workers/image/oci.h"
#include "workers/image/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES = 1 << 20, FILES = 200 };

struct bytes_at { const uint8_t *p; size_t n, at; };

static enum errc read_bytes(void *ctx, void *p, size_t n, size_t *ret, struct err *e)
{
    struct bytes_at *b = ctx;
    (void)e;
    *ret = n < b->n - b->at ? n : b->n - b->at;
    memcpy(p, b->p + b->at, *ret);
    b->at += *ret;
    return ERR_OK;
}

static enum errc put_all(struct source from, int root, struct err *e)
{
    static struct tar t;
    struct unpack u = { .root = root, .bytes_most = BYTES, .files_most = FILES };
    struct tar_entry en;
    bool more = true;
    tar_begin(&t, from);
    for (;;) {
        TRY(tar_next(&t, &en, &more, e));
        if (!more)
            return ERR_OK;
        TRY(unpack_is_whiteout(&en) ? unpack_whiteout(&u, &en, e) : unpack_entry(&u, &t, &en, e));
    }
}

static void as_archive(const uint8_t *data, size_t size, int root)
{
    struct err e;
    struct oci_image image;
    struct arena *a = arena_new((size_t)64 << 20);
    const struct oci_limits most = { BYTES, FILES };
    int fd = memfd_create("archive", MFD_CLOEXEC);
    if (fd >= 0 && write(fd, data, size) == (ssize_t)size)
        (void)!oci_unpack(fd, root, STR_NULL, &most, a, &image, &e);
    close(fd);
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char above[] = "/tmp/falaj-fuzz-XXXXXX", cmd[160];
    struct err e;
    struct gunzip *g;
    if (!mkdtemp(above))
        return 0;
    int dir = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    mkdirat(dir, "root", 0755);
    int root = openat(dir, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct bytes_at b = { data, size, 0 };
    as_archive(data, size, root);
    (void)!put_all((struct source){ read_bytes, &b }, root, &e);
    b.at = 0;
    if (gunzip_new((struct source){ read_bytes, &b }, BYTES, &g, &e) == ERR_OK) {
        (void)!put_all(gunzip_source(g), root, &e);
        gunzip_free(g);
    }
    close(root);
    snprintf(cmd, sizeof cmd, "chmod -R u+rwx %s/root; rm -rf %s/root", above, above);
    if (system(cmd) != 0 || unlinkat(AT_FDCWD, above, AT_REMOVEDIR) != 0)
        abort();                        /* something lies beside the folder */
    close(dir);
    return 0;
}
