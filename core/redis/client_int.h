/* SPDX-License-Identifier: Apache-2.0 */
/* client_int.h - what the client, the listener and what connects them share; only for core/redis. */
#pragma once
#include <stdatomic.h>
#include "core/redis/client.h"

#define REDIS_PAUSE_MIN_US 100000
#define REDIS_PAUSE_MAX_US 2000000
enum { REDIS_PASSWORD_MAX = 513 };

struct redis_link;

/* Own copies of redis_opts. */
struct redis_address {
    char *address, *master, *user, *password, *password_file, *sentinel_user, *sentinel_password_file;
    char *ca_file, *cert_file, *key_file;
    bool has_tls;
    int timeout_ms;
    atomic_bool is_ending;              /* no further place is tried */
};
void redis_address_set(struct redis_address *a, const struct redis_opts *o);
void redis_address_release(struct redis_address *a);

/* Can TLS be made of its files? */
MUST_CHECK enum errc redis_tls_check(const struct redis_address *a, struct err *e);
/* As redis_send of PUBLISH, but replaces an unsent one to the same channel. */
bool redis_publish(struct redis_client *c, struct str channel, struct str payload);
