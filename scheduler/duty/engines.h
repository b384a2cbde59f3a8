/* SPDX-License-Identifier: Apache-2.0 */
/* engines.h - looks after the engines that operators named, while this scheduler leads: a thread for each, so that one that is
 * slow delays nobody, and one that finds out which there are.
 *
 * Calling order: engine_keeper_new -> engine_keeper_free (waits for a call under way, which is given up). */
#pragma once
#include <stdbool.h>
#include "core/base/work.h"

struct engine_keeper;
struct engine_keeper *engine_keeper_new(const struct app *app, bool (*is_leading)(void *ctx), void *ctx);
void engine_keeper_free(struct engine_keeper *k);       /* NULL is fine */
