/* SPDX-License-Identifier: Apache-2.0 */
/* crypto_test.h - what the tests of core/crypto share: cmocka with its prerequisites, and bytes from hex. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "core/base/err.h"
#include "core/base/str.h"

#define OK(call) assert_int_equal((call), ERR_OK)

static inline size_t unhex(const char *hex, uint8_t *out)
{
    size_t n = strlen(hex) / 2;
    assert_true(n == 0 || hex_decode(str_c(hex), out, n));
    return n;
}

static inline void assert_hex(const void *p, size_t n, const char *hex)
{
    char text[4096];
    assert_true(2 * n < sizeof text);
    hex_encode(p, n, text);
    assert_string_equal(text, hex);
}
