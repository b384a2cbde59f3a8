/* SPDX-License-Identifier: Apache-2.0 */
/* engine_login.h - the files of scheduler.engines_dir that engines are called with: tokens, certificates, authorities.
 *
 * A row names a file without a folder. It is read anew for each turn, so one that is replaced needs no restart.
 * Errors: IO, with what a file must be. */
#pragma once
#include "scheduler/engines/engine.h"

struct config;

/* Its path. */
const char *engine_file(const struct config *cfg, struct arena *a, struct str file);
/* A plain file that nobody else may read: one line with a token, or a client certificate and its key (PEM, in this order).
 * Sets call->credential or call->cert_file. */
enum errc engine_login(const struct config *cfg, struct arena *a, struct str file, struct engine_call *call,
                       struct err *e) MUST_CHECK;
