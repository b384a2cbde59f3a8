/* SPDX-License-Identifier: Apache-2.0 */
/* servers.c - what is remembered of a server stands in one small table of the process, by the hash of its name and port: a site
 * has two or three. With more than PLACES the one that nobody asked for the longest time is forgotten, which costs an attempt. */
#include "core/db/servers.h"
#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/db/dial.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    SERVERS_MAX = DIAL_MAX,     /* of one conninfo; with more libpq tries them by itself */
    PLACES = 16,
    SILENT_US = 3000000,        /* so long nobody asks a silent server while there is another; then one caller does */
    SLOW_US = 1900000,          /* libpq's least connect_timeout is 2 s: what took so long was ended by it, not refused */
};

static struct place {
    uint64_t of;                /* 0: nobody's */
    int64_t asked_us, good_us, silent_until_us;
    atomic_int silences;        /* only grows, whoever has the place: what looks at it outlives the name */
} places[PLACES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct server {
    const char *host, *port;
    uint64_t of;
    int64_t good_us;
    bool is_silent, is_suspect;         /* its silence is not over; is over, and this caller finds out */
};

static uint64_t name_of(const char *host, const char *port)
{
    return str_hash(str_c(host)) * 31 + str_hash(str_c(port ? port : ""));
}

/* With the lock held. */
static struct place *place_of(uint64_t of, int64_t now)
{
    struct place *p = places;
    for (struct place *at = places; at < places + PLACES; at++) {
        if (at->of == of) {
            p = at;
            break;
        }
        if (at->asked_us < p->asked_us)
            p = at;
    }
    if (p->of != of) {
        p->of = of;
        p->good_us = p->silent_until_us = 0;
    }
    p->asked_us = now;
    return p;
}

static void remember(uint64_t of, bool is_good)
{
    int64_t now = clock_mono_us(&clock_system);
    pthread_mutex_lock(&lock);
    struct place *p = place_of(of, now);
    if (is_good)
        p->good_us = now;
    else
        atomic_fetch_add(&p->silences, 1);
    p->silent_until_us = is_good ? 0 : now + SILENT_US;
    pthread_mutex_unlock(&lock);
}

void server_is_silent(PGconn *pg)
{
    const char *host = PQhost(pg);
    if (host && *host)
        remember(name_of(host, PQport(pg)), false);
}

const atomic_int *server_silences(PGconn *pg)
{
    const char *host = PQhost(pg);
    if (!host || !*host)
        return NULL;
    pthread_mutex_lock(&lock);
    struct place *p = place_of(name_of(host, PQport(pg)), clock_mono_us(&clock_system));
    pthread_mutex_unlock(&lock);
    return &p->silences;
}

bool server_answers(PGconn *pg)
{
    const char *host = PQhost(pg);
    if (!host || !*host)
        return true;
    const char *keys[] = { "host", "port", "user", "dbname", "connect_timeout", NULL };
    const char *values[] = { host, PQport(pg), PQuser(pg), PQdb(pg), "5", NULL };
    int64_t began = clock_mono_us(&clock_system);
    PGPing said = PQpingParams(keys, values, 0);
    /* Refused at once: the server has ended, and the connection will say so itself. */
    return said != PQPING_NO_RESPONSE || clock_mono_us(&clock_system) - began < SLOW_US;
}

/* Cuts the list in place. Returns how many there are; more than SERVERS_MAX count as SERVERS_MAX + 1. */
static int split(char *list, const char **ret)
{
    int n = 0;
    for (char *at = list; at && n <= SERVERS_MAX; n++) {
        char *end = strchr(at, ',');
        if (end)
            *end++ = '\0';
        if (n < SERVERS_MAX)
            ret[n] = at;
        at = end;
    }
    return n;
}

/* The servers of a conninfo; 0: one alone, or words whose meaning is left to libpq. The strings are those of `all`. */
static int servers_of(PQconninfoOption *all, struct server *ret)
{
    char *hosts = NULL, *ports = NULL;
    for (PQconninfoOption *o = all; o->keyword; o++) {
        if (strcmp(o->keyword, "host") == 0)
            hosts = o->val;
        else if (strcmp(o->keyword, "port") == 0)
            ports = o->val;
        else if (strcmp(o->keyword, "hostaddr") == 0 && o->val)
            return 0;
    }
    const char *host[SERVERS_MAX], *port[SERVERS_MAX];
    int n = split(hosts, host), nports = split(ports, port);
    if (n < 2 || n > SERVERS_MAX || (nports > 1 && nports != n))
        return 0;
    for (int i = 0; i < n; i++) {
        ret[i] = (struct server){ .host = host[i], .port = nports == 0 ? "" : port[nports == 1 ? 0 : i] };
        ret[i].of = name_of(ret[i].host, ret[i].port);
    }
    return n;
}

/* Who took a connection last is first. A server whose silence may have ended is asked by this caller alone: others leave it
 * out. */
static void order(struct server *s, int n)
{
    int64_t now = clock_mono_us(&clock_system);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n; i++) {
        struct place *p = place_of(s[i].of, now);
        s[i].good_us = p->good_us;
        s[i].is_silent = now < p->silent_until_us;
        s[i].is_suspect = p->silent_until_us && !s[i].is_silent;
        if (s[i].is_suspect)
            p->silent_until_us = now + SILENT_US;
    }
    pthread_mutex_unlock(&lock);
    for (int i = 1; i < n; i++) {
        struct server moved = s[i];
        int at = i;
        for (; at > 0 && s[at - 1].good_us < moved.good_us; at--)
            s[at] = s[at - 1];
        s[at] = moved;
    }
}

/* connect_timeout of the conninfo, else of the values before it; at least 2 s, as libpq has it, and never for ever. */
static int64_t timeout_of(PQconninfoOption *all, const char *const *keys, const char *const *values)
{
    enum { LEAST_S = 2, MOST_S = 3600 };
    int64_t s = LEAST_S;
    for (int i = 0; keys[i]; i++)
        if (strcmp(keys[i], "connect_timeout") == 0)
            (void)str_to_i64(str_c(values[i]), LEAST_S, MOST_S, &s);
    for (PQconninfoOption *o = all; o->keyword; o++)
        if (strcmp(o->keyword, "connect_timeout") == 0 && o->val && !str_to_i64(str_c(o->val), LEAST_S, MOST_S, &s))
            s = str_eq_c(str_c(o->val), "1") ? LEAST_S : s;         /* "for ever" and what is no number: ours stays */
    return s * 1000000;
}

/* Those that are silent are left out while there is another; one that may be no more is asked when the others refuse. */
static PGconn *first_of(struct server *s, int n, const char *const *keys, const char *const *values, int64_t timeout_us,
                        struct buf *why)
{
    struct dial d[SERVERS_MAX];
    int awake = 0, asked = 0;
    for (int i = 0; i < n; i++)
        awake += !s[i].is_silent && !s[i].is_suspect;
    for (int i = 0; i < n; i++) {
        if (s[i].is_silent && awake) {
            buf_printf(why, "%s was silent; ", s[i].host);
            continue;
        }
        s[asked] = s[i];
        d[asked++] = (struct dial){ .host = s[i].host, .port = s[i].port, .is_last = awake && s[i].is_suspect };
    }
    PGconn *pg = dial_first(d, asked, keys, values, timeout_us, why);
    for (int i = 0; i < asked; i++)
        if (d[i].said == DIAL_GOOD || d[i].said == DIAL_SILENT)
            remember(s[i].of, d[i].said == DIAL_GOOD);
    return pg;
}

PGconn *servers_connect(const char *conninfo, const char *const *keys, const char *const *values, struct buf *why)
{
    struct server s[SERVERS_MAX];
    PQconninfoOption *all = PQconninfoParse(conninfo, NULL);
    int n = all ? servers_of(all, s) : 0;
    PGconn *pg = NULL;
    if (n) {
        order(s, n);
        pg = first_of(s, n, keys, values, timeout_of(all, keys, values), why);
    } else {
        pg = PQconnectdbParams(keys, values, 1);
        buf_add_c(why, PQerrorMessage(pg));
    }
    PQconninfoFree(all);
    return pg;
}
