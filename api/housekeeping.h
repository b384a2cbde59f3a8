/* SPDX-License-Identifier: Apache-2.0 */
/* housekeeping.h - the small regular work of falaj-api, done by its main thread while it waits for a signal. */
#pragma once
#include <signal.h>
#include "api/api.h"

struct config;

/* Serving machines are known by the same authorities as calling ones. */
void serving_trust_share(struct api *api);
/* Waits for SIGTERM or SIGINT; SIGHUP reads settings, certificates and the name of the access log again, SIGUSR1 only the last,
 * for log rotation; every HOUSEKEEPING_S seconds does the small regular work, every ORPHAN_EVERY_S the larger. */
void housekeeping_run(struct app *app, struct api *api, struct config *cfg, sigset_t *set);
