/* SPDX-License-Identifier: Apache-2.0 */
/* daemons.c - what each process of `falaj dev` is called, how it is started and ended, and when it counts as up.
 *
 * Settings go by files that only their reader can open, and no secret stands in an argument; falaj-migrate, which lives for a moment,
 * gets its address by its environment. */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/dev/dev.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/crypto/token.h"
#include "core/http/client.h"

/* More than any of them needs: what is slow on a busy machine is no fault. */
enum { STOP_MS = 15000, STEP_MS = 15 };

static struct child *describe(struct dev *d, int which, const char *name)
{
    struct child *p = &d->children[which];
    *p = (struct child){ .name = name, .log_path = arena_printf(d->arena, "%s/%s.log", d->logs, name), .uid = d->server_uid, .gid = d->server_gid,
                         .stop_signal = SIGTERM, .stop_ms = STOP_MS };
    return p;
}

/* BIN/falaj-NAME --config=ETC/NAME.conf */
static void daemon_of_ours(struct dev *d, int which, const char *name)
{
    struct child *p = describe(d, which, name);
    int n = (int)strcspn(name, "-");           /* the program of worker-de-fra-1 is falaj-worker */
    p->argv[0] = arena_printf(d->arena, "%s/falaj-%.*s", d->bin, n, name);
    p->argv[1] = arena_printf(d->arena, "--config=%s/%s.conf", d->etc, name);
}

const char *dev_name_of(struct dev *d, const char *daemon, int zone)
{
    return zone ? arena_printf(d->arena, "%s-%s", daemon, d->zones[zone]) : daemon;
}

static void describe_keyd(struct dev *d, int i)
{
    struct stat st;
    const char *zone = d->zones[i];
    const char *root = arena_printf(d->arena, "%s/root-%s.key", d->keys, zone);
    struct child *p = describe(d, DEV_KEYD_OF(i), dev_name_of(d, "keyd", i));
    p->socket = arena_printf(d->arena, "%s/%s.sock", d->run, dev_name_of(d, "keyd", i));
    const char *const argv[] = { arena_printf(d->arena, "%s/falaj-keyd", d->bin), "--zone", zone, "--socket", p->socket, "--softfile", root, "--log", "logfmt",
                                 "--ops-port", arena_printf(d->arena, "%lld", (long long)d->ops_port[DEV_KEYD_OF(i)]),
                                 stat(root, &st) < 0 ? "--init" : NULL, NULL };
    memcpy(p->argv, argv, sizeof(argv));
}

void daemons_describe(struct dev *d)
{
    struct child *p = describe(d, DEV_POSTGRES, "postgres");
    p->uid = d->pg_uid;
    p->gid = d->pg_gid;
    p->stop_signal = SIGINT;            /* fast shutdown; SIGTERM would wait for clients */
    p->argv[0] = arena_printf(d->arena, "%s/postgres", d->pg_bin);
    p->argv[1] = "-D";
    p->argv[2] = arena_printf(d->arena, "%s/cluster", d->pg);

    p = describe(d, DEV_REDIS, "redis");
    p->argv[0] = "/usr/bin/redis-server";
    p->argv[1] = arena_printf(d->arena, "%s/redis.conf", d->etc);
    p->socket = arena_printf(d->arena, "%s/redis.sock", d->run);

    d->nchildren = DEV_DAEMONS + 2 * (d->nzones - 1);
    for (int i = 0; i < d->nzones; i++)
        describe_keyd(d, i);
    daemon_of_ours(d, DEV_API, "api");
    daemon_of_ours(d, DEV_SCHEDULER, "scheduler");
    for (int i = 0; i < d->nzones; i++)
        daemon_of_ours(d, DEV_WORKER_OF(i), dev_name_of(d, "worker", i));
}

enum errc daemons_migrate(struct dev *d, struct err *e)
{
    const char *password;
    TRY(files_secret(d, "pg-falaj_migrate", &password, e));
    struct child run = { .name = "migrate", .log_path = arena_printf(d->arena, "%s/migrate.log", d->logs), .uid = d->server_uid, .gid = d->server_gid,
                         .stop_signal = SIGTERM, .argv = { arena_printf(d->arena, "%s/falaj-migrate", d->bin) },
                         .env = arena_printf(d->arena, "FALAJ_MIGRATE_URL=%s", config_db_url(d, "falaj_migrate", "falaj", password)) };
    return supervise_run_once(d, &run, DEV_START_MS, NULL, e);
}

/* The first word of text that is a token. */
static const char *find_token(struct dev *d, struct str text)
{
    for (size_t i = 0; i + 4 < text.len; i++) {
        if (memcmp(text.ptr + i, "flj_", 4) != 0)
            continue;
        size_t n = i;
        while (n < text.len && (strchr("_", text.ptr[n]) || (text.ptr[n] >= '0' && text.ptr[n] <= '9') || (text.ptr[n] >= 'a' && text.ptr[n] <= 'z') ||
                                (text.ptr[n] >= 'A' && text.ptr[n] <= 'Z')) && text.ptr[n])
            n++;
        if (token_check(str_n(text.ptr + i, n - i), NULL))
            return arena_strndup(d->arena, text.ptr + i, n - i);
    }
    return NULL;
}

enum errc daemons_admin_token(struct dev *d, struct err *e)
{
    static const char login[] = "platform operator ";
    const char *path = arena_printf(d->arena, "%s/admin-token", d->secrets), *login_path = arena_printf(d->arena, "%s/admin-login", d->secrets);
    struct str text;
    struct err ignored;
    if (access(path, F_OK) == 0 && files_read(d->arena, path, &text, &ignored) == ERR_OK && token_check(text, NULL)) {
        d->admin_token = text.ptr;
        struct str kept;
        bool is_kept = files_read(d->arena, login_path, &kept, &ignored) == ERR_OK && str_starts(kept, login);
        d->admin_password = is_kept ? str_z(d->arena, str_n(kept.ptr + sizeof login - 1, kept.len - (sizeof login - 1))) : "";
        return ERR_OK;
    }
    struct child run = { .name = "bootstrap", .log_path = arena_printf(d->arena, "%s/bootstrap.log", d->logs), .uid = d->server_uid, .gid = d->server_gid, .stop_signal = SIGTERM,
                         .argv = { arena_printf(d->arena, "%s/falaj-api", d->bin), arena_printf(d->arena, "--config=%s/api.conf", d->etc), "--bootstrap-admin" } };
    TRY(supervise_run_once(d, &run, DEV_START_MS, &text, e));
    d->admin_token = find_token(d, text);
    if (!d->admin_token)
        return FAIL(e, UNAVAILABLE, "falaj-api --bootstrap-admin printed no token");
    const char *at = strstr(str_z(d->arena, text), login);
    d->admin_password = at ? arena_strndup(d->arena, at + sizeof login - 1, strcspn(at + sizeof login - 1, "\r\n")) : "";
    if (*d->admin_password)
        TRY(files_write(d, login_path, str_fmt(d->arena, "%s%s", login, d->admin_password), geteuid(), getegid(), e));
    return files_write(d, path, str_c(d->admin_token), geteuid(), getegid(), e);
}

enum errc daemons_wait_api(struct dev *d, struct err *e)
{
    int64_t end = clock_mono_us(&clock_system) + INT64_C(1000) * DEV_START_MS;
    struct http_client_options o = { .base_url = d->api_url, .timeout_ms = 2000, .connect_timeout_ms = 500 };
    CLEANUP(http_client_freep) struct http_client *http = http_client_new(&o, e);
    if (!http)
        return e->code;
    for (;;) {
        struct http_call call = { .path = "/readyz" };
        struct http_result r = { 0 };
        struct err last = { 0 };
        enum errc rc = http_client_call(http, d->arena, &call, &r, &last);
        if (rc == ERR_OK && r.status == 200)
            return ERR_OK;
        if (clock_mono_us(&clock_system) > end)
            return FAIL(e, UNAVAILABLE, "falaj-api is not ready after %d s: %.*s", DEV_START_MS / 1000, (int)(r.body.len < 150 ? r.body.len : 150), r.body.len ? r.body.ptr : last.msg);
        TRY(supervise_pause(d, STEP_MS, e));
    }
}
