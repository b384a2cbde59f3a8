/* SPDX-License-Identifier: Apache-2.0 */
/* tls.h - a connection between two programs that know each other by name: TLS 1.3, both sides with a certificate.
 * A client may know its server as the web does instead, by host name or address (tls_identity.host).
 *
 * The peer is let in when its chain ends at the identity's authority, it is allowed to be what it is (server or client) and its
 * only URI name is one of those that were given; nothing else of it is read before. No tickets, no earlier versions, no early
 * data. (Listeners of HTTP are core/http's, over GnuTLS; this is for connections that are no HTTP.)
 * Time: every call waits for its peer at most silence_ms after the last byte that went through, so a peer that is gone without
 * a word, or holds still, is an error within that time; opening takes at most silence_ms in all, however slowly bytes come. Who
 * opens several at once begins them and steps each when poll says so (tls_begin, tls_step). A descriptor is taken over by
 * tls_open and tls_begin, also when that fails.
 * The process ignores SIGPIPE. One thread per connection. Sources: RFC 8446, RFC 5280 §4.2.1.6, SPIFFE X509-SVID.
 * Errors: FORBIDDEN (the peer is not who was named), UPSTREAM (it is gone, or no TLS comes of it), DEADLINE (silence). */
#pragma once
#include <stdbool.h>
#include "core/base/str.h"

struct tls_identity {
    struct str cert_pem, key_pem;       /* own, PKCS#8; for both ends */
    struct str ca_pem;                  /* who signed peers */
    bool peers_serve;                   /* their certificates are servers' whichever side they are on, as those of leases are */
    /* Not NULL, for a client alone: the server is who has this DNS name or IP address in its certificate (RFC 6125; names in the
     * common name do not count). ca_pem is then a bundle, or empty for the system's; authorities between it and the server may
     * come with the server's certificate; an own certificate, with those between, may be absent. Lists of names are empty. */
    const char *host;
};

struct tls;

/* Can a connection be made of these texts? INVALID says what is wrong with which of them. */
MUST_CHECK enum errc tls_identity_check(const struct tls_identity *own, struct err *e);
/* fd: a connected stream socket. *ret_peer: which of the names it has. */
MUST_CHECK enum errc tls_open(int fd, bool is_server, const struct tls_identity *own, const struct str *names, size_t name_count,
                              int silence_ms, struct tls **ret, size_t *ret_peer, struct err *e);
/* The same without waiting: nothing is read or written yet. */
MUST_CHECK enum errc tls_begin(int fd, bool is_server, const struct tls_identity *own, int silence_ms, struct tls **ret,
                               struct err *e);
/* As far as it goes now. *ret_events: what poll shall wait for before the next step; 0: it is open, and the peer is
 * names[*ret_peer]. After an error the connection is only to be closed. */
MUST_CHECK enum errc tls_step(struct tls *t, const struct str *names, size_t name_count, short *ret_events, size_t *ret_peer,
                              struct err *e);
/* All n bytes; a peer that closed before them is UPSTREAM. */
MUST_CHECK enum errc tls_read(struct tls *t, void *p, size_t n, struct err *e);
MUST_CHECK enum errc tls_write(struct tls *t, const void *p, size_t n, struct err *e);
/* Without waiting: what there is, at most n bytes, or what goes now; *ret 0: nothing yet (poll tls_fd). Bytes that did not go
 * must come again at the front of the next write. */
MUST_CHECK enum errc tls_read_some(struct tls *t, void *p, size_t n, size_t *ret, struct err *e);
MUST_CHECK enum errc tls_write_some(struct tls *t, const void *p, size_t n, size_t *ret, struct err *e);
int tls_fd(const struct tls *t);
void tls_silence(struct tls *t, int silence_ms);        /* from here on */
/* Whatever comes, calls end by then (clock_mono_us of the system's clock); 0: as long as bytes come. */
void tls_until(struct tls *t, int64_t until_us);
/* Says goodbye without waiting for an answer, closes the descriptor. NULL is fine. */
void tls_close(struct tls *t);
