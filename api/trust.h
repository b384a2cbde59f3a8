/* SPDX-License-Identifier: Apache-2.0 */
/* trust.h - where the authorities for worker certificates come from: falaj-keyd of each zone in keys.sockets, for that zone alone, and
 * the files of api.worker_ca. A zone whose falaj-keyd was down at the start is asked again by trust_refresh.
 * Calling order: trust_open -> trust_refresh* -> mtls_trust_free. */
#pragma once
#include <stdbool.h>
#include "core/base/work.h"
#include "core/http/mtls_trust.h"

enum errc trust_open(const struct app *app, struct mtls_trust **ret, struct err *e) MUST_CHECK;
/* True: an authority was added. */
bool trust_refresh(const struct app *app, struct mtls_trust *t);
