/* SPDX-License-Identifier: Apache-2.0 */
/* redis_site.c - redis-cli asks and orders, so that the code under test is not its own judge. */
#include "tests/db/redis_site.h"
#include "core/base/arena.h"
#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/crypto/x509.h"
#include "tests/db/harness_int.h"
#include "tests/lib/wait.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PORT = 26010, PATHS = 16 };

struct redis_site {
    struct child children[SITE_REDIS + SITE_SENTINELS];     /* Sentinels behind the Redis */
    char address[20], sentinels[100], list[60], places[SITE_REDIS][30], tls_args[400];
    char *paths[PATHS];
    int npaths;
    bool has_tls;
    struct arena *arena;
};

static const char *folder(struct redis_site *s)
{
    return s->children[0].dir;
}

const char *redis_site_file(struct redis_site *s, const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder(s), name);
    for (int i = 0; i < s->npaths; i++)
        if (!strcmp(s->paths[i], path))
            return s->paths[i];
    ASSERT(s->npaths < PATHS);
    return s->paths[s->npaths++] = str_dup_heap(str_c(path));
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    ASSERT(f && fputs(text, f) >= 0 && fclose(f) == 0);
    harness_give(path);
}

static void issue(struct redis_site *s, const struct x509_pair *ca, const char *cert, const char *key)
{
    struct x509_pair p;
    struct err e;
    const struct x509_req r = { .common_name = STR("redis"), .dns = (const char *const[]){ "localhost", NULL },
        .ip = (const char *const[]){ s->address, NULL }, .is_client = true, .is_server = true, .lifetime_s = 86400 };
    ASSERT(x509_issue(s->arena, ca, &r, clock_wall_us(&clock_system), &p, &e) == ERR_OK);
    put(redis_site_file(s, cert), str_z(s->arena, p.cert_pem));
    put(redis_site_file(s, key), str_z(s->arena, p.key_pem));
}

static void certificates(struct redis_site *s)
{
    struct x509_pair ca, other;
    struct err e;
    const int64_t now = clock_wall_us(&clock_system);
    ASSERT(x509_make_ca(s->arena, STR("site"), STR("spiffe://site"), now, 86400, &ca, &e) == ERR_OK);
    ASSERT(x509_make_ca(s->arena, STR("other"), STR("spiffe://other"), now, 86400, &other, &e) == ERR_OK);
    put(redis_site_file(s, "ca.pem"), str_z(s->arena, ca.cert_pem));
    put(redis_site_file(s, "other-ca.pem"), str_z(s->arena, other.cert_pem));
    issue(s, &ca, "server.pem", "server.key");
    issue(s, &ca, "client.pem", "client.key");
    issue(s, &other, "stranger.pem", "stranger.key");
}

/* What all five have in common. */
static int common(struct redis_site *s, int i, char *text, size_t size)
{
    int n = snprintf(text, size, "bind %s\nprotected-mode no\ndir %s\nport %d\n", s->address, s->children[i].dir,
                     s->has_tls ? 0 : PORT + i);
    if (s->has_tls)
        n += snprintf(text + n, size - (size_t)n, "tls-port %d\ntls-cert-file %s\ntls-key-file %s\ntls-ca-cert-file %s\n"
                      "tls-auth-clients yes\ntls-replication yes\ntls-protocols TLSv1.3\n", PORT + i,
                      redis_site_file(s, "server.pem"), redis_site_file(s, "server.key"), redis_site_file(s, "ca.pem"));
    return n;
}

static void write_settings(struct redis_site *s, int i)
{
    char text[3000], path[300];
    int n = common(s, i, text, sizeof text);
    if (i < SITE_REDIS)
        n += snprintf(text + n, sizeof text - (size_t)n, "save \"\"\nappendonly no\nrepl-diskless-sync-delay 0\n"
                      "requirepass boss\nmasterauth boss\n"
                      "user falaj on >word ~* &* +@all -@scripting -@dangerous +role\nreplica-announce-ip %s\n", s->address);
    if (i > 0 && i < SITE_REDIS)
        n += snprintf(text + n, sizeof text - (size_t)n, "replicaof %s %d\n", s->address, PORT);
    if (i >= SITE_REDIS)
        snprintf(text + n, sizeof text - (size_t)n, "sentinel monitor site %s %d 2\nsentinel auth-pass site boss\n"
                 "requirepass seer\nsentinel sentinel-pass seer\nsentinel announce-ip %s\n"
                 "sentinel down-after-milliseconds site 3000\nsentinel failover-timeout site 3000\n", s->address, PORT,
                 s->address);
    snprintf(path, sizeof path, "%s/conf", s->children[i].dir);
    put(path, text);
}

/* redis-cli's answer to a command, in text; false: none, or an error. */
static bool ask(struct redis_site *s, int i, const char *command, char *text, size_t size)
{
    char line[800];
    snprintf(line, sizeof line, "exec timeout 5 redis-cli -e -h %s -p %d %s --no-auth-warning -a %s %s 2>&1", s->address,
             PORT + i, s->tls_args, i < SITE_REDIS ? "boss" : "seer", command);
    FILE *f = popen(line, "re");
    ASSERT(f);
    const size_t n = fread(text, 1, size - 1, f);
    text[n] = '\0';
    return pclose(f) == 0;
}

static bool says(struct redis_site *s, int i, const char *command, const char *want)
{
    char text[4000];
    return ask(s, i, command, text, sizeof text) && strstr(text, want);
}

bool redis_site_is_master(struct redis_site *s, int i)
{
    char text[400];
    return ask(s, i, "role", text, sizeof text) && !strncmp(text, "master", 6);
}

bool redis_site_follows(struct redis_site *s, int i, int master)
{
    char port[40];
    snprintf(port, sizeof port, "master_port:%d", PORT + master);
    return redis_site_is_master(s, master) && says(s, i, "info replication", port)
           && says(s, i, "info replication", "master_link_status:up");
}

void redis_site_swap(struct redis_site *s, int master)
{
    char order[60];
    snprintf(order, sizeof order, "replicaof %s %d", s->address, PORT + 1 - master);
    WAIT_WHILE(!says(s, 1 - master, "replicaof no one", "OK"));
    WAIT_WHILE(!says(s, master, order, "OK"));
    WAIT_WHILE(!redis_site_follows(s, master, 1 - master));
}

static void start(struct redis_site *s, int i)
{
    struct child *c = &s->children[i];
    char conf[160], log[160];
    snprintf(conf, sizeof conf, "%s/conf", c->dir);
    snprintf(log, sizeof log, "%s/log", c->dir);
    const char *argv[] = { "/usr/bin/redis-server", conf, i >= SITE_REDIS ? "--sentinel" : NULL, NULL };
    c->pid = harness_spawn(argv, c->dir, log);
    WAIT_WHILE(!says(s, i, "ping", "PONG"));
}

void redis_site_start(struct redis_site *s, int i)
{
    start(s, i);
}

static void end_it(void *s)
{
    redis_site_free(s);
}

struct redis_site *redis_site_new(bool has_tls)
{
    struct redis_site *s = calloc(1, sizeof *s);
    const unsigned pid = (unsigned)getpid();
    ASSERT(s && (s->arena = arena_new(1 << 20)));
    s->has_tls = has_tls;
    snprintf(s->address, sizeof s->address, "127.%u.%u.%u", 1 + (pid >> 16) % 250, pid >> 8 & 255, pid & 255);
    for (int i = 0; i < SITE_REDIS + SITE_SENTINELS; i++)
        harness_dir(&s->children[i], "redis");
    harness_live(s, end_it);
    if (has_tls) {
        certificates(s);
        snprintf(s->tls_args, sizeof s->tls_args, "--tls --cacert %s --cert %s --key %s", redis_site_file(s, "ca.pem"),
                 redis_site_file(s, "client.pem"), redis_site_file(s, "client.key"));
    }
    put(redis_site_file(s, "seer"), "seer\n");
    for (int i = 0; i < SITE_REDIS; i++)
        snprintf(s->places[i], sizeof s->places[i], "%s:%d", s->address, PORT + i);
    snprintf(s->list, sizeof s->list, "%s,%s", s->places[1], s->places[0]);
    for (int i = 0; i < SITE_SENTINELS; i++)
        snprintf(s->sentinels + strlen(s->sentinels), 40, "%s%s:%d", i ? "," : "", s->address, PORT + SITE_REDIS + i);
    for (int i = 0; i < SITE_REDIS + SITE_SENTINELS; i++) {
        write_settings(s, i);
        start(s, i);
    }
    WAIT_WHILE(!redis_site_follows(s, 1, 0));
    for (int i = 0; i < SITE_SENTINELS; i++) {
        WAIT_WHILE(!says(s, SITE_REDIS + i, "info sentinel", "status=ok,address="));
        WAIT_WHILE(!says(s, SITE_REDIS + i, "info sentinel", "slaves=1,sentinels=3"));
    }
    return s;
}

void redis_site_free(struct redis_site *s)
{
    if (!s)
        return;
    harness_gone(s);
    for (int i = SITE_REDIS + SITE_SENTINELS - 1; i >= 0; i--) {
        if (s->children[i].pid)
            redis_site_freeze(s, i, false);
        harness_end(&s->children[i], SIGKILL);
        if (s->children[i].owner == getpid())
            harness_remove(s->children[i].dir);
    }
    for (int i = 0; i < s->npaths; i++)
        free(s->paths[i]);
    arena_free(s->arena);
    free(s);
}

static struct redis_opts opts_of(struct redis_site *s, const char *address)
{
    struct redis_opts o = { .address = address, .user = "falaj", .password = "word", .has_tls = s->has_tls };
    if (s->has_tls) {
        o.ca_file = redis_site_file(s, "ca.pem");
        o.cert_file = redis_site_file(s, "client.pem");
        o.key_file = redis_site_file(s, "client.key");
    }
    return o;
}

struct redis_opts redis_site_by_sentinels(struct redis_site *s)
{
    struct redis_opts o = opts_of(s, s->sentinels);
    o.master = "site";
    o.sentinel_password_file = redis_site_file(s, "seer");
    return o;
}

struct redis_opts redis_site_by_list(struct redis_site *s)
{
    return opts_of(s, s->list);
}

const char *redis_site_place(struct redis_site *s, int i)
{
    return s->places[i];
}

void redis_site_kill(struct redis_site *s, int i)
{
    harness_end(&s->children[i], SIGKILL);
}

void redis_site_freeze(struct redis_site *s, int i, bool on)
{
    if (s->children[i].owner == getpid())
        (void)kill(s->children[i].pid, on ? SIGSTOP : SIGCONT);     /* gone already is as well */
}

void redis_site_kill_sentinel(struct redis_site *s, int i)
{
    redis_site_kill(s, SITE_REDIS + i);
}
