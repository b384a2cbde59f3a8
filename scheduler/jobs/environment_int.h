/* SPDX-License-Identifier: Apache-2.0 */
/* environment_int.h - what the files of environments share: whose signature something is. In a transaction that sees the rows of
 * w->tenant_id. */
#pragma once
#include "scheduler/jobs/environment.h"

/* hex as environment_sign takes it, over the digest's text; ret: 64 bytes. INVALID: no signature. UNPROCESSABLE: of no key of the
 * tenant. */
enum errc environment_signature_read(struct work *w, struct str digest, struct str hex, uint8_t *ret, struct uuid *ret_key,
                                     struct err *e) MUST_CHECK;
/* By a key that the tenant has now? */
enum errc environment_is_signed(struct work *w, struct str digest, struct bytes signature, bool *ret, struct err *e) MUST_CHECK;
