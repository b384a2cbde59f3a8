/* SPDX-License-Identifier: Apache-2.0 */
/* USES: core_http_text tenants */
/* fuzz_cookie.c - the session cookie and the device's user code out of arbitrary text.
 *
 * Oracle: a cookie that is found lies in the header, has its length and letters, and stands there once; a code that is read has eight
 * letters and reads the same again. */
#include <stdint.h>
#include "core/base/assert.h"
#include "core/http/cookie.h"
#include "tenants/identity/device.h"
#include "tenants/identity/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size), value = STR_NULL;
    char plain[USER_CODE_LETTERS + 1], again[USER_CODE_LETTERS + 1];
    if (cookie_get(text, SESSION_COOKIE, COOKIE_LEN, &value) == COOKIE_ONE) {
        ASSERT(value.ptr > text.ptr && value.ptr + value.len <= text.ptr + text.len && value.len == COOKIE_LEN);
        ASSERT(!memcmp(value.ptr - sizeof SESSION_COOKIE, SESSION_COOKIE "=", sizeof SESSION_COOKIE));
        for (size_t i = 0; i < value.len; i++)
            ASSERT(value.ptr[i] > ' ' && value.ptr[i] != ';' && value.ptr[i] != '"');
    } else {
        ASSERT(!value.ptr || value.len == COOKIE_LEN);
    }
    if (user_code_read(text, plain)) {
        ASSERT(strlen(plain) == USER_CODE_LETTERS && user_code_read(str_c(plain), again) && !strcmp(plain, again));
        ASSERT(!strpbrk(plain, "AEIOU -"));
    }
    return 0;
}
