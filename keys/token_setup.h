/* SPDX-License-Identifier: Apache-2.0 */
/* token_setup.h - falaj-keyd --init-token: a token made ready for a zone, and what is in it told to the person who did it.
 *
 * With so_pin_file, a blank token gets the label and both PINs first; one with the label is left as it is. Then the zone's keys that
 * do not exist are made. Errors: SEALED (what the token said), NOT_FOUND (no blank token), INVALID. */
#pragma once
#include <stdio.h>
#include "keys/provider.h"

MUST_CHECK enum errc token_setup(const struct provider_config *c, const char *so_pin_file, FILE *out, struct err *e);
