/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_port.h - /healthz, /readyz and /metrics of falaj-api on a port of their own: api.ops_port at api.ops_bind, in prod by
 * itself. Sets api->ops, and then /metrics is no longer on the people's port. Close before what the metrics are about is taken
 * down.
 * Errors: those of ops_open. */
#pragma once
#include "api/api.h"
#include "core/base/err.h"
#include "core/base/work.h"

enum errc metrics_port_open(struct app *app, struct api *api, struct err *e) MUST_CHECK;
void metrics_port_close(struct api *api);
