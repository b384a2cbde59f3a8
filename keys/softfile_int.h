/* SPDX-License-Identifier: Apache-2.0 */
/* softfile_int.h - the development key store in memory, and its file. (softfile_image.c) */
#pragma once
#include <pthread.h>
#include "keys/provider.h"

enum { SOFTFILE_ROOTS_MAX = 16 };

struct softfile_keys {
    struct secret32 seed, import_scalar;
    struct secret32 roots[SOFTFILE_ROOTS_MAX];
};

struct softfile {
    struct provider_config config;      /* its texts are borrowed */
    pthread_rwlock_t lock;              /* everything below */
    struct softfile_keys *keys;         /* locked heap */
    uint32_t versions[SOFTFILE_ROOTS_MAX];
    uint32_t n_roots;
    uint8_t public_key[ED25519_PUBLIC];
    uint8_t import_point[P256_POINT];
};

/* NOT_FOUND: there is no file. FORBIDDEN: it is open to others, a link, or another user's. */
enum errc softfile_read(struct softfile *s, struct err *e);
/* is_new: EXISTS when there is one. */
enum errc softfile_write(const struct softfile *s, bool is_new, struct err *e);
