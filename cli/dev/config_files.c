/* SPDX-License-Identifier: Apache-2.0 */
/* config_files.c - ports, and the file of settings of each daemon (core/table/config.def), written anew at every start. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <stdlib.h>
#include <unistd.h>
#include "cli/dev/dev.h"
#include "core/base/cleanup.h"

#define API_PORT_KEY "api.port = "
enum { PORT_DEFAULT = 8080, PORT_TRIES = 100, DRAIN_MS = 2000, GRACE_MS = 500, SLOTS_MIN = 8 };

/* Takes a port for a daemon. port 0: any. Returns the port, or -1. The socket stays open as long as falaj dev runs, bound and not
 * listening: a daemon, which reuses addresses, may listen there, and nothing else of this machine gets the number, neither the
 * next who asks for any port nor a connection on its way out. PostgreSQL may need half a minute before a daemon begins. */
static int try_port(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(at);
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || getsockname(fd, (struct sockaddr *)&at, &n) < 0) {
        fd_closep(&fd);
        return -1;
    }
    return ntohs(at.sin_port);
}

/* Where a daemon's /metrics is: as the environment says, which the daemon reads too, else anywhere. */
static int64_t ops_port(const char *variable)
{
    int64_t port;
    const char *named = variable ? getenv(variable) : NULL;
    return named && str_to_i64(str_c(named), 0, 65535, &port) ? port : try_port(0);
}

static void ops_ports_choose(struct dev *d)
{
    const char *of_api = getenv("FALAJ_API_OPS_PORT");
    d->ops_port[DEV_API] = of_api ? ops_port("FALAJ_API_OPS_PORT") : 0;
    d->ops_port[DEV_SCHEDULER] = ops_port("FALAJ_SCHEDULER_OPS_PORT");
    for (int i = 0; i < d->nzones; i++) {
        d->ops_port[DEV_KEYD_OF(i)] = try_port(0);
        d->ops_port[DEV_WORKER_OF(i)] = ops_port(i ? NULL : "FALAJ_WORKER_OPS_PORT");
    }
    if (d->ops_port[DEV_API] <= 0)
        d->ops_port[DEV_API] = d->port;
}

/* The API's port at the last start, out of its file of settings: profiles and browsers know that address. 0: there was none. */
static int former_port(const struct dev *d)
{
    struct str text, line;
    struct err ignored;
    int64_t port = 0;
    if (!d->etc || files_read(d->arena, arena_printf(d->arena, "%s/api.conf", d->etc), &text, &ignored) != ERR_OK)
        return 0;
    for (bool more = text.len > 0; more;) {
        more = str_cut(text, '\n', &line, &text);
        if (str_starts(line, API_PORT_KEY))
            (void)str_to_i64(str_n(line.ptr + strlen(API_PORT_KEY), line.len - strlen(API_PORT_KEY)), 1, 65535, &port);
    }
    return (int)port;
}

enum errc ports_choose(struct dev *d, struct err *e)
{
    int former = d->is_port_fixed ? 0 : former_port(d), got = former ? try_port(former) : -1;
    if (d->is_port_fixed) {
        got = try_port((int)d->port);
        if (got < 0)
            return FAIL(e, CONFLICT, "port %lld is in use", (long long)d->port);
    }
    for (int i = 0; got < 0 && i < PORT_TRIES; i++)
        got = try_port(PORT_DEFAULT + i);
    int worker = try_port(0);
    if (got < 0 || worker < 0 || worker == got)
        return FAIL(e, CONFLICT, "no port is free on 127.0.0.1");
    d->port = got;
    d->worker_port = worker;
    ops_ports_choose(d);
    d->api_url = arena_printf(d->arena, "http://127.0.0.1:%d", got);
    return ERR_OK;
}

const char *config_db_url(struct dev *d, const char *role, const char *database, const char *password)
{
    return arena_printf(d->arena, "host=%s port=%d dbname=%s user=%s password=%s", d->run, DEV_PG_PORT, database, role, password);
}

static enum errc add_db(struct dev *d, struct buf *b, const char *key, const char *role, struct err *e)
{
    const char *password;
    TRY(files_secret(d, arena_printf(d->arena, "pg-%s", role), &password, e));
    buf_printf(b, "%s = %s\n", key, config_db_url(d, role, "falaj", password));
    return ERR_OK;
}

static void add_shared(struct dev *d, struct buf *b)
{
    buf_printf(b, "redis.socket = %s/redis.sock\nredis.user = falaj\nredis.password = %s\n", d->run, d->redis_password);
    buf_add_c(b, "keys.sockets = ");
    for (int i = 0; i < d->nzones; i++)
        buf_printf(b, "%s%s=%s/%s.sock", i ? "," : "", d->zones[i], d->run, dev_name_of(d, "keyd", i));
    buf_printf(b, "\nblob.dir = %s\n", d->blobs);
}

static enum errc save(struct dev *d, const char *name, const struct buf *b, struct err *e)
{
    if (b->overflow)
        return FAIL(e, LIMIT, "the settings of %s are too long", name);
    return files_write(d, arena_printf(d->arena, "%s/%s.conf", d->etc, name), buf_str(b), d->server_uid, d->server_gid, e);
}

static enum errc write_api(struct dev *d, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(32768);
    buf_add_c(&b, "# Written by falaj dev at every start.\nrun.profile = dev\napproval.separation = accounts\n");
    TRY(add_db(d, &b, "db.url", "falaj_app", e));
    TRY(add_db(d, &b, "db.node_url", "falaj_worker_api", e));
    add_shared(d, &b);
    buf_printf(&b, "api.bind = 127.0.0.1\n" API_PORT_KEY "%lld\napi.public_url = %s\napi.drain_ms = %d\n", (long long)d->port, d->api_url, DRAIN_MS);
    buf_printf(&b, "api.worker_bind = 127.0.0.1\napi.worker_port = %lld\n", (long long)d->worker_port);
    buf_printf(&b, "api.worker_cert = %s/api.pem\napi.worker_key = %s/api.key\napi.worker_ca = %s/workers-ca.pem\n", d->tls, d->tls, d->tls);
    buf_printf(&b, "api.client_cert = %s/api.pem\napi.client_key = %s/api.key\n", d->tls, d->tls);
    buf_printf(&b, "audit.erasure_dir = %s\n", d->erasures);
    if (d->console)
        buf_printf(&b, "api.console_dir = %s\n", d->console);
    return save(d, "api", &b, e);
}

static enum errc write_scheduler(struct dev *d, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(32768);
    buf_add_c(&b, "# Written by falaj dev at every start.\nrun.profile = dev\n");
    TRY(add_db(d, &b, "db.url", "falaj_scheduler", e));
    TRY(add_db(d, &b, "scheduler.url", "falaj_scheduler", e));
    TRY(add_db(d, &b, "sequencer.url", "falaj_sequencer", e));
    TRY(add_db(d, &b, "audit.retention_url", "falaj_retention", e));
    add_shared(d, &b);
    buf_printf(&b, "api.public_url = %s\n", d->api_url);
    buf_printf(&b, "scheduler.ops_port = %lld\n", (long long)d->ops_port[DEV_SCHEDULER]);
    return save(d, "scheduler", &b, e);
}

static enum errc write_worker(struct dev *d, int i, struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(32768);
    buf_add_c(&b, "# Written by falaj dev at every start.\nrun.profile = dev\n");
    buf_printf(&b, "worker.api_url = https://127.0.0.1:%lld\nworker.zone = %s\nworker.pool = default\nworker.name = dev-1\n", (long long)d->worker_port, d->zones[i]);
    const char *name = dev_name_of(d, "worker", i);
    /* falaj-api shows the certificate of the first zone's authority to all. */
    buf_printf(&b, "worker.cert = %s/%s.pem\nworker.key = %s/%s.key\nworker.ca = %s/ca-%s.pem\n", d->tls, name, d->tls, name, d->tls, d->zone);
    buf_printf(&b, "worker.work_dir = %s%s%s\nworker.serve_bind = 127.0.0.1\nworker.grace_ms = %d\n", d->worker, i ? "-" : "", i ? d->zones[i] : "", GRACE_MS);
    /* A model that is served holds a slot for good, and the next job must still find one on a small machine. */
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    buf_printf(&b, "worker.slots = %lld\n", d->slots ? (long long)d->slots : cores > SLOTS_MIN ? (long long)cores : SLOTS_MIN);
    buf_printf(&b, "worker.ops_port = %lld\n", (long long)d->ops_port[DEV_WORKER_OF(i)]);
    return save(d, name, &b, e);
}

enum errc config_files_write(struct dev *d, struct err *e)
{
    TRY(write_api(d, e));
    TRY(write_scheduler(d, e));
    for (int i = 0; i < d->nzones; i++)
        TRY(write_worker(d, i, e));
    return ERR_OK;
}
