/* SPDX-License-Identifier: Apache-2.0 */
/* wake.h - "something happened, look now": a hint between processes over Redis pub/sub. Truth is in PostgreSQL; a lost hint costs one
 * tick of whoever waits.
 *
 * wake_publish does not wait: publishes to one channel that are still unsent become one, with the last payload.
 * wake_listener is a thread that is subscribed to its channels. After each (re)connect it calls fn once with channel NULL: "something
 * may have been missed, look at everything". It reconnects by itself; without Redis fn is simply not called.
 * A channel with a '*' is a pattern. fn runs on the listener's thread and must be short.
 * Calling order: wake_listener_new -> … -> wake_listener_free, which waits until fn is not running. */
#pragma once
#include <stdbool.h>
#include "core/redis/client.h"

/* client NULL: no effect. Channel and payload: together at most REDIS_BYTES_MAX bytes. */
void wake_publish(struct redis_client *client, struct str channel, struct str payload);

struct wake_listener;
typedef void (*wake_fn)(void *ctx, struct str channel, struct str payload);    /* channel.ptr NULL: after a (re)connect */

struct wake_listener *wake_listener_new(const struct redis_opts *opts, const char *const *channels, int nchannels, wake_fn fn, void *ctx);
bool wake_listener_is_up(struct wake_listener *l);
void wake_listener_free(struct wake_listener *l);
void wake_listener_freep(struct wake_listener **l);
