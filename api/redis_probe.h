/* SPDX-License-Identifier: Apache-2.0 */
/* redis_probe.h - one PING there and back, for who wants to know how long it takes. Blocks at most wait_ms. Any thread.
 * False: no answer in time, or no connection. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct redis_client;

bool redis_probe(struct redis_client *c, int wait_ms, int64_t *ret_us);
