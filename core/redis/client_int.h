/* SPDX-License-Identifier: Apache-2.0 */
/* client_int.h - what wake.c needs of the client; only for core/redis. */
#pragma once
#include <hiredis/hiredis.h>
#include "core/redis/client.h"

#define REDIS_PAUSE_MIN_US 100000
#define REDIS_PAUSE_MAX_US 2000000

/* Own copies of redis_opts. */
struct redis_address {
    char *address, *user, *password;
    int timeout_ms;
};
void redis_address_set(struct redis_address *a, const struct redis_opts *o);
void redis_address_release(struct redis_address *a);
/* Connected and logged in, or NULL. */
redisContext *redis_dial(const struct redis_address *a);
/* As redis_send of PUBLISH, but replaces an unsent one to the same channel. */
bool redis_publish(struct redis_client *c, struct str channel, struct str payload);
