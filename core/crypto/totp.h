/* SPDX-License-Identifier: Apache-2.0 */
/* totp.h - one-time codes of authenticator apps: HOTP (RFC 4226) and TOTP (RFC 6238) with SHA-1, 30 seconds, 6 digits.
 *
 * SHA-1 stands here because every authenticator app speaks it and no other; HMAC does not rest on what is broken in it. Pure.
 * totp_step_of says which time step of now-1, now, now+1 a code belongs to, or -1; all three are always computed and compared in constant
 * time. Who accepts a code remembers its step and takes no step twice. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "core/base/str.h"

enum { TOTP_SECRET = 20, TOTP_PERIOD_S = 30, TOTP_DIGITS = 6, BASE32_SECRET = 33 };

uint32_t hotp_code(const uint8_t *secret, size_t secret_len, uint64_t counter, int digits);
/* digits: TOTP_DIGITS of 0-9, spaces allowed in between as apps show them. */
int64_t totp_step_of(const uint8_t secret[TOTP_SECRET], struct str digits, int64_t unix_s);
/* RFC 4648 base32 without padding: what the app is given. */
void base32_secret(const uint8_t secret[TOTP_SECRET], char out[BASE32_SECRET]);
