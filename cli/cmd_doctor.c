/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_doctor.c - `falaj doctor`: what this machine has, and whether the platform on it keeps its promises.
 *
 * Every check is one line: ok, warn or fail, what was seen, what to do. On a server (--etc, or where /etc/falaj has api.conf and
 * no falaj dev runs) the
 * platform is asked with the caller's token; with falaj dev, with its administrator's. */
#include <stdlib.h>
#include <unistd.h>
#include "cli/client.h"
#include "cli/dev/dev.h"
#include "cli/doctor.h"
#include "cli/output.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"

enum { CLOCK_WARN_S = 5, CLOCK_FAIL_S = 60 };

static const struct jval *ask(struct doctor *d, const char *token, const char *path, const char *check)
{
    struct api_reply r;
    struct err e = { 0 };
    struct api_req q = { .method = "GET", .path = path, .token = token };
    enum errc rc = api_send(d->c, &q, &r, &e);
    if (rc == ERR_OK && r.status == 200)
        return r.json;
    doctor_row(d, check, "warn", rc != ERR_OK ? e.msg : arena_printf(d->c->arena, "the API answered %d", r.status),
               rc != ERR_OK ? "is falaj-api running? journalctl -u falaj-api, or DATA/log/api.log" : "a token of a platform administrator is needed");
    return NULL;
}

static void one_part(struct doctor *d, const struct jval *c, const char *own)
{
    struct arena *a = d->c->arena;
    struct str name = jval_str(jval_get(c, "name")), zone = jval_str(jval_get(c, "zone")), state = jval_str(jval_get(c, "state"));
    struct str detail = jval_str(jval_get(c, "detail")), version = jval_str(jval_get(c, "version"));
    bool is_ok = str_eq_c(state, "ok");
    doctor_row(d, arena_printf(a, "part %.*s%s%.*s", STR_ARG(name), zone.len ? " " : "", STR_ARG(zone)),
               is_ok ? "ok" : str_eq_c(state, "down") ? "fail" : "warn", str_z(a, detail),
               "howto/runbooks.md has a section for it; its daemon's log says more");
    if (str_eq_c(name, "scheduler") && version.len)
        doctor_row(d, "version of the scheduler", str_eq_c(version, own) ? "ok" : "warn", str_z(a, version),
                   "the programs of one release belong together: finish the upgrade (howto/upgrade.md)");
}

static void check_versions(struct doctor *d, const char *token, struct str api)
{
    struct arena *a = d->c->arena;
    doctor_row(d, "version of the API", str_eq_c(api, FALAJ_VERSION) ? "ok" : "warn",
               arena_printf(a, "falaj-api %.*s, this program %s", STR_ARG(api), FALAJ_VERSION),
                   "install the same release on both sides");
    const struct jval *nodes = jval_get(ask(d, token, "/v1/nodes?page_size=200", "machines"), "data");
    size_t other = 0;
    struct str name = STR_NULL;
    for (size_t i = 0; i < jval_len(nodes); i++)
        if (!str_eq(jval_str(jval_get(jval_at(nodes, i), "version")), api) && !other++)
            name = jval_str(jval_get(jval_at(nodes, i), "name"));
    if (nodes)
        doctor_row(d, "version of machines", other ? "warn" : "ok",
                   arena_printf(a, "%zu of %zu run another release than the API%s%.*s", other, jval_len(nodes),
                                other ? ", as " : "", STR_ARG(name)),
                   "machines of the release before work on; bring them up one by one");
}

static void check_time(struct doctor *d, struct str at, int64_t asked_us)
{
    int64_t there;
    if (!time_parse(at, &there))
        return;
    double off = (double)(there - asked_us) / 1e6;
    double size = off < 0 ? -off : off;
    doctor_row(d, "clock of the API", size > CLOCK_FAIL_S ? "fail" : size > CLOCK_WARN_S ? "warn" : "ok",
               arena_printf(d->c->arena, "%+.1f s from this machine's", off), "synchronise both machines' clocks");
}

static void check_invariants(struct doctor *d, const char *token)
{
    const struct jval *data = jval_get(ask(d, token, "/v1/system/invariants", "invariants"), "data");
    for (size_t i = 0; i < jval_len(data); i++) {
        const struct jval *one = jval_at(data, i);
        int64_t n = jval_i64(jval_get(one, "violations"), -1);
        struct str name = jval_str(jval_get(one, "name")), doc = jval_str(jval_get(one, "doc"));
        doctor_row(d, arena_printf(d->c->arena, "invariant %.*s", STR_ARG(name)), n == 0 ? "ok" : "fail",
                   arena_printf(d->c->arena, "%.*s: %lld violations", STR_ARG(doc), (long long)n),
                   "this is a bug of Falaj: keep the data and report it with falaj support bundle");
    }
}

static void check_api(struct doctor *d, const char *token)
{
    int64_t asked = clock_wall_us(&clock_system);
    const struct jval *h = ask(d, token, "/v1/system/health", "health");
    if (!h)
        return;
    struct str api = jval_str(jval_get(h, "version"));
    const struct jval *parts = jval_get(h, "components");
    check_time(d, jval_str(jval_get(h, "checked_at")), asked);
    for (size_t i = 0; i < jval_len(parts); i++)
        one_part(d, jval_at(parts, i), str_z(d->c->arena, api));
    check_versions(d, token, api);
    check_invariants(d, token);
}

static void check_program(struct doctor *d, const char *name, const char *path, const char *todo)
{
    bool is_there = access(path, X_OK) == 0;
    doctor_row(d, name, is_there ? "ok" : "fail", path, todo);
}

static void check_programs(struct doctor *d, const struct dev *dev)
{
    static const char *const ours[] = { "falaj-api", "falaj-scheduler", "falaj-keyd", "falaj-worker", "falaj-migrate", NULL };
    const char *install = "deploy/install-deps.sh --run installs it",
        *build = "build it: cmake --preset release && ninja -C build/release";
    check_program(d, "postgresql 15", "/usr/lib/postgresql/15/bin/postgres", install);
    check_program(d, "initdb", "/usr/lib/postgresql/15/bin/initdb", install);
    check_program(d, "redis", "/usr/bin/redis-server", install);
    for (int i = 0; dev->bin && ours[i]; i++)
        check_program(d, ours[i], arena_printf(d->c->arena, "%s/%s", dev->bin, ours[i]), build);
}

/* Each process that falaj dev says it has. */
static void check_processes(struct doctor *d, const struct dev *dev, const struct jval *state)
{
    for (struct jval_iter it = jval_iter(jval_get(state, "pids")); jval_next(&it);) {
        int64_t pid = jval_i64(it.value, 0);
        bool runs = pid > 1 && access(arena_printf(d->c->arena, "/proc/%lld", (long long)pid), F_OK) == 0;
        doctor_row(d, arena_printf(d->c->arena, "process %s", it.name), runs ? "ok" : "fail",
                   arena_printf(d->c->arena, "pid %lld", (long long)pid),
                   arena_printf(d->c->arena, "its log is %s/%s.log", dev->logs, it.name));
    }
}

/* Its API, with its administrator's token. */
static void check_dev_api(struct doctor *d, const struct dev *dev, const struct jval *state)
{
    struct err e = { 0 };
    struct str token;
    struct api_reply r;
    struct api_req q = { .method = "GET", .path = "/readyz" };
    d->c->profile.url = str_z(d->c->arena, jval_str(jval_get(state, "api_url")));
    bool answers = api_send(d->c, &q, &r, &e) == ERR_OK, is_ready = answers && r.status == 200;
    doctor_row(d, "api", is_ready ? "ok" : "fail",
               arena_printf(d->c->arena, "%s/readyz: %s", d->c->profile.url, !answers ? e.msg : is_ready ? "ready" : "not ready"),
               arena_printf(d->c->arena, "its log is %s/api.log", dev->logs));
    if (!answers || files_read(d->c->arena, arena_printf(d->c->arena, "%s/admin-token", dev->secrets), &token, &e) != ERR_OK)
        return;
    d->c->profile.token = token.ptr;
    check_api(d, token.ptr);
}

static void check_dev(struct doctor *d, struct dev *dev, pid_t owner)
{
    struct err e = { 0 };
    struct str text;
    const struct jval *state = NULL;
    bool is_ready = files_read(d->c->arena, arena_printf(d->c->arena, "%s/dev.json", dev->data), &text, &e) == ERR_OK &&
                    jval_parse(d->c->arena, text, 0, &state, &e) == ERR_OK;
    doctor_row(d, "falaj dev", is_ready ? "ok" : "warn", arena_printf(d->c->arena, "runs on %s, pid %ld", dev->data, (long)owner),
               "it is starting or stopping; wait a moment");
    if (!is_ready)
        return;
    check_processes(d, dev, state);
    check_dev_api(d, dev, state);
    doctor_place(d, dev->etc, dev->secrets, dev->bin);
}

static void check_server(struct doctor *d, const char *etc)
{
    struct arena *a = d->c->arena;
    doctor_certificates(d, arena_printf(a, "%s/tls", etc));
    doctor_place(d, etc, arena_printf(a, "%s/secrets", etc), NULL);
    if (d->c->profile.url && d->c->profile.token)
        check_api(d, NULL);
    else
        doctor_row(d, "platform", "warn", "not asked: FALAJ_URL and FALAJ_TOKEN, or a profile, say where and who",
                   "falaj login, or set both");
}

void doctor_all(struct doctor *d, const char **ret_etc)
{
    struct dev *dev = ARENA_NEW(d->c->arena, struct dev);
    struct err e = { 0 };
    const char *etc = cli_flag(d->c, "etc");
    dev->c = d->c;
    dev->arena = d->c->arena;
    dev->lock_fd = -1;
    bool is_found = dev_paths(dev, &e) == ERR_OK;
    pid_t owner = is_found && access(dev->data, F_OK) == 0 ? state_owner(dev) : 0;
    doctor_row(d, "falaj", "ok", FALAJ_VERSION, "");
    if (!etc && !owner && !cli_flag(d->c, "data") && access("/etc/falaj/api.conf", F_OK) == 0)
        etc = "/etc/falaj";
    *ret_etc = etc ? etc : owner ? dev->etc : NULL;
    if (etc) {
        check_server(d, etc);
        return;
    }
    check_programs(d, dev);
    if (!is_found)
        return;
    doctor_space(d, "free space", dev->data);
    doctor_certificates(d, dev->tls);
    if (owner)
        check_dev(d, dev, owner);
    else
        doctor_row(d, "falaj dev", "ok", arena_printf(d->c->arena, "none runs on %s", dev->data), "");
}

int cmd_doctor(struct cli *c)
{
    CLEANUP(buf_releasep) struct buf rows = BUF(1 << 20);
    struct doctor d = { .c = c, .rows = rows };
    const struct jval *v;
    const char *etc;
    struct err e = { 0 };
    doctor_all(&d, &etc);
    rows = d.rows;
    struct str text = str_fmt(c->arena, "{\"data\":[%s]}", rows.ptr ? rows.ptr : "");
    if (jval_parse(c->arena, text, 0, &v, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    if (c->format == OUT_JSON) {
        fprintf(c->out, "%.*s\n", STR_ARG(text));
    } else {
        struct output o;
        output_begin(&o, c, "check:CHECK result:RESULT seen:SEEN todo:ADVICE");
        output_page(&o, jval_get(v, "data"));
        output_end(&o);
    }
    return d.failures ? cli_fail(c, CLI_FAILED, "the column ADVICE says what to do", "%d checks failed", d.failures) : CLI_OK;
}
