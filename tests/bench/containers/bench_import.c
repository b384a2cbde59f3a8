/* SPDX-License-Identifier: Apache-2.0 */
/* bench_import.c ARCHIVE FOLDER - unpacks an image as an import and every lease do, for import.py to weigh. */
#include <fcntl.h>
#include <stdio.h>
#include "core/base/cleanup.h"
#include "workers/image/oci.h"

int main(int argc, char **argv)
{
    const struct oci_limits most = { UINT64_C(1) << 40, 10000000, false };
    struct oci_image image;
    struct err e = { 0 };
    if (argc != 3) {
        fprintf(stderr, "bench_import ARCHIVE FOLDER\n");
        return 2;
    }
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 32);
    CLEANUP(fd_closep) int archive = open(argv[1], O_RDONLY | O_CLOEXEC), root = open(argv[2],
        O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (oci_unpack(archive, root, STR_NULL, &most, a, &image, &e) != ERR_OK) {
        fprintf(stderr, "%s\n", e.msg);
        return 1;
    }
    printf("%llu layers, %llu files, %llu bytes\n", (unsigned long long)image.layers, (unsigned long long)image.files,
           (unsigned long long)image.bytes);
    return 0;
}
