/* SPDX-License-Identifier: Apache-2.0 */
/* challenge.h - what a registry answers to who has not said who he is: WWW-Authenticate, one challenge or several.
 *
 * Pure text of a stranger's. The first Bearer challenge that names a realm is taken, else a Basic one. Of a realm only
 * https://HOST[:PORT]/PATH is taken, without a user, a fragment, blanks or a line's end.
 * Sources: RFC 9110 11.6.1; distribution's "Token Authentication Specification". */
#pragma once
#include <stdbool.h>
#include "core/base/arena.h"
#include "core/base/str.h"

enum challenge_kind { CHALLENGE_NONE, CHALLENGE_BASIC, CHALLENGE_BEARER };
enum { CHALLENGE_TEXT_MAX = 4096, CHALLENGE_PARTS_MAX = 32 };

struct challenge {
    enum challenge_kind kind;
    struct str host, path;          /* of the realm: where a token is asked for, and "/token?…" there */
    struct str service;             /* STR_NULL: not said */
};

/* NONE: nothing in it can be used. In the arena. */
struct challenge challenge_read(struct str text, struct arena *a);
/* The parts of an URL as https://HOST[:PORT][/PATH]; false: another form. path begins with '/'. */
bool challenge_url(struct str url, struct arena *a, struct str *ret_host, struct str *ret_path);
