/* SPDX-License-Identifier: Apache-2.0 */
/* cert_watch.h - the certificates of a process while it runs: taken up anew when their files change, and told of before they end.
 *
 * cert_watch_look reads a pair of files whose place, size or time of change is another than at the last look, and gives a pair
 * that fits to
 * its listener: new connections see it, open ones keep theirs. A pair that does not fit (half of a replacement, a damaged file)
 * is told once
 * and tried again at each look; the old certificate stays meanwhile. Each look sets the gauge
 * certificate_not_after_seconds{name};
 * CERT_WARN_S before the end (a quarter of its life where that is less, as with certificates that renew themselves) and after
 * it, a warning
 * is logged at the first look and then once a day.
 * Files may be replaced in either order, by rename or in place. What is added must live as long as the watch.
 * Calling order: cert_watch_new -> cert_watch_add* -> cert_watch_look* (one thread) -> cert_watch_free. */
#pragma once
#include <stdint.h>
#include "core/http/server.h"

enum { CERT_WATCH_MAX = 8, CERT_WARN_S = 30 * 86400 };

struct cert_watch;

struct cert_watch *cert_watch_new(void);
/* name: label of the gauge, from a small set. key_file NULL: known by others only; server NULL: nothing to give it to, as with
 * a client's,
 * whose files are read at each connection. */
void cert_watch_add(struct cert_watch *w, const char *name, const char *cert_file, const char *key_file,
    struct http_server *server);
/* Microseconds since 1970. Returns how many listeners got another certificate. */
int cert_watch_look(struct cert_watch *w, int64_t now_us);
void cert_watch_free(struct cert_watch *w);         /* NULL is fine */
