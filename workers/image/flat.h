/* SPDX-License-Identifier: Apache-2.0 */
/* flat.h - an image that has been checked once, as one file without compression: made while its archive is unpacked (oci.h), read
 * by leases that need not check it again.
 *
 *   0  the tars of the layers, one behind another
 *      JSON: digest, env, layers (digest, size, bytes, files, length of its tar), stripped, left_out
 *   the last 16 bytes: u64 length of the JSON (little endian), "FJFLAT1\n"
 * It says nothing of whether its bytes are what they were: who keeps it keeps it from being changed. Entries are read as strictly
 * as those of any image (unpack.h), within the same limits.
 * Errors: those of oci.h. Memory: the arena. */
#pragma once
#include "workers/image/oci.h"

struct flat {
    int fd;                             /* borrowed; written from 0 on */
    uint64_t most, bytes;
    bool is_over;                       /* it does not fit, or cannot be written: there will be none */
    size_t layers;
    uint64_t at[OCI_LAYERS_MAX];        /* where each begins */
};

void flat_begin(struct flat *f, int fd, uint64_t most);
void flat_layer(struct flat *f);        /* the next one begins */
void flat_add(struct flat *f, const void *p, size_t n);
/* True: it is whole. */
bool flat_end(struct flat *f, const struct oci_image *image);

/* As oci_unpack. */
MUST_CHECK enum errc flat_unpack(int fd, int root, const struct oci_limits *most, struct arena *a, struct oci_image *ret,
                                 struct err *e);
