/* SPDX-License-Identifier: Apache-2.0 */
/* cookie.h - one named cookie out of a Cookie header (RFC 6265 section 4.2.1), strictly. Pure.
 *
 * A pair is name=value, pairs are separated by "; "; spaces and tabs around a pair are forgiven, other cookies may look as they like. The
 * name is compared byte by byte: "__Host-" is a promise of the browser that only holds for exactly this spelling. A cookie that is there
 * twice, or in quotes, was not set by us alone: COOKIE_BAD. */
#pragma once
#include "core/base/str.h"

enum cookie_found { COOKIE_NONE, COOKIE_ONE, COOKIE_BAD };

/* value is borrowed from header. want_len: the only good length of the value; of [A-Za-z0-9_-]. */
enum cookie_found cookie_get(struct str header, const char *name, size_t want_len, struct str *ret);
