/* SPDX-License-Identifier: Apache-2.0 */
/* mail.h - one text mail to one address through an SMTP server: the connection is encrypted and the server known, or it is
 * this machine.
 *
 * smtp://host[:port] begins in the clear and must go on by STARTTLS before anything is said; smtps://host[:port] is TLS from the
 * first byte. Only with is_plain, and to a loopback name, is there no encryption. A whole mail takes MAIL_TIMEOUT_MS at most.
 * mail_message is pure: what a text holds cannot make a header (subject and body are base64; addresses are checked first).
 * Sources: RFC 5321, 5322, 2047, 2045, 3207, 3834. Memory: the arena.
 * Errors of mail_send: INVALID (address, URL), UNAVAILABLE (not reached, TLS or sign-in refused, told to try again: 4xx),
 * UPSTREAM (refused for good: 5xx), DEADLINE. */
#pragma once
#include <stdbool.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"

enum { MAIL_ADDRESS_MAX = 254, MAIL_SUBJECT_MAX = 400, MAIL_TEXT_MAX = 16384, MAIL_TIMEOUT_MS = 20000 };

struct mail_server {
    const char *url, *user, *password, *ca_file;    /* user NULL: no sign-in; ca_file NULL: the system's */
    bool is_plain;
    bool (*is_unwanted)(void *ctx);     /* asked about once a second: true ends the call as UNAVAILABLE; NULL: always wanted */
    void *ctx;
};
struct mail {
    struct str from, to;            /* bare addresses */
    struct str subject, text;       /* UTF-8; cut at a character where too long */
    struct str id;                  /* of Message-ID, before the @; [A-Za-z0-9_-] */
    const char *language;           /* "en", "ar" */
    int64_t at_us;
};

/* local@domain of printable ASCII without blanks, quotes, brackets, commas, colons and semicolons, at most MAIL_ADDRESS_MAX. */
bool mail_address_is_ok(struct str s);
/* For .check of a field. */
bool check_mail_address(struct str s, const char **why);
/* The bytes that go to the server, lines ending in CRLF. INVALID: an address. */
MUST_CHECK enum errc mail_message(struct arena *a, const struct mail *m, struct str *ret, struct err *e);
MUST_CHECK enum errc mail_send(struct arena *a, const struct mail_server *s, const struct mail *m, struct err *e);
