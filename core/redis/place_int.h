/* SPDX-License-Identifier: Apache-2.0 */
/* place_int.h - where a Redis or a Sentinel listens: "unix:/path", "host:port", "[address]:port", and lists of them. Pure. */
#pragma once
#include <stdbool.h>
#include "core/base/err.h"
#include "core/base/str.h"

enum { REDIS_HOST_MAX = 254, REDIS_PLACE_MAX = 320, REDIS_PLACES_MAX = 16 };

struct redis_place {
    bool is_unix;
    char host[REDIS_HOST_MAX];      /* of a socket: its path */
    int port;
};

/* INVALID says what was expected and what came. */
MUST_CHECK enum errc redis_place_read(struct str text, struct redis_place *ret, struct err *e);
/* The next place of the list; false: there is none. */
bool redis_place_next(struct str *list, struct str *ret);
/* "host:port,host:port": between one and REDIS_PLACES_MAX, none of them a socket. */
MUST_CHECK enum errc redis_places_check(struct str list, struct err *e);
