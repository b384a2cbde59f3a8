/* SPDX-License-Identifier: Apache-2.0 */
/* pkcs11_pin.h - the PIN of a token, read from its file each time it is needed and wiped after use.
 *
 * The file is opened without following links and must be regular, with one name, owned by the process (or, below
 * $CREDENTIALS_DIRECTORY, by root) and closed to everyone else. One line end after the PIN is dropped. 4 to 255 bytes, no NUL.
 * path NULL: the systemd credential "falaj-pin". */
#pragma once
#include <stddef.h>
#include "core/base/err.h"

enum { PIN_MAX = 255 };

struct pin {
    unsigned char b[PIN_MAX + 1];
    size_t n;
};

/* In the locked heap; give it back with pin_free, which wipes it. SEALED with the reason. */
MUST_CHECK enum errc pin_read(const char *path, struct pin **ret, struct err *e);
void pin_free(struct pin *p);
void pin_freep(struct pin **p);
