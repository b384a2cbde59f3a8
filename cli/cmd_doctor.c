/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_doctor.c - `falaj doctor`: what this machine has, and whether the platform on it keeps its promises.
 *
 * Every check is one line: ok, warn or fail, what was seen, what to do. The invariants of the queue are counted by the platform
 * itself (GET /v1/system/invariants); they are asked only where a falaj dev runs here and its administrator's token can be read. */
#include <dirent.h>
#include <sys/statvfs.h>
#include <stdlib.h>
#include <unistd.h>
#include "cli/client.h"
#include "cli/dev/dev.h"
#include "cli/output.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/crypto/x509.h"

enum { FREE_MIN_MIB = 500, CERT_WARN_DAYS = 30 };

struct doctor {
    struct cli *c;
    struct buf rows;
    int failures;
    size_t count;
};

static void check(struct doctor *d, const char *name, const char *result, const char *seen, const char *todo)
{
    buf_printf(&d->rows, "%s{\"check\":", d->count++ ? "," : "");
    buf_add_json(&d->rows, str_c(name));
    buf_printf(&d->rows, ",\"result\":\"%s\",\"seen\":", result);
    buf_add_json(&d->rows, str_c(seen));
    buf_add_c(&d->rows, ",\"todo\":");
    buf_add_json(&d->rows, str_c(strcmp(result, "ok") == 0 ? "" : todo));
    buf_add_char(&d->rows, '}');
    d->failures += strcmp(result, "fail") == 0;
}

static void check_program(struct doctor *d, const char *name, const char *path, const char *todo)
{
    bool is_there = access(path, X_OK) == 0;
    check(d, name, is_there ? "ok" : "fail", path, todo);
}

static void check_programs(struct doctor *d, const struct dev *dev)
{
    static const char *const ours[] = { "falaj-api", "falaj-scheduler", "falaj-keyd", "falaj-worker", "falaj-migrate", NULL };
    const char *install = "deploy/install-deps.sh --run installs it";
    check_program(d, "postgresql 15", "/usr/lib/postgresql/15/bin/postgres", install);
    check_program(d, "initdb", "/usr/lib/postgresql/15/bin/initdb", install);
    check_program(d, "redis", "/usr/bin/redis-server", install);
    for (int i = 0; dev->bin && ours[i]; i++)
        check_program(d, ours[i], arena_printf(d->c->arena, "%s/%s", dev->bin, ours[i]), "build it: cmake --preset release && ninja -C build/release");
}

static void check_space(struct doctor *d, const struct dev *dev)
{
    struct statvfs fs;
    const char *where = dev->data;
    while (where && statvfs(where, &fs) < 0 && strcmp(where, "/") != 0) {
        const char *slash = strrchr(where, '/');
        where = slash == where ? "/" : arena_strndup(d->c->arena, where, (size_t)(slash - where));
    }
    long long mib = where ? (long long)fs.f_bavail * (long long)fs.f_frsize / (1 << 20) : 0;
    check(d, "free space", mib >= FREE_MIN_MIB ? "ok" : "fail", arena_printf(d->c->arena, "%lld MiB at %s", mib, where ? where : "?"), "make room, or choose another folder with --data");
}

/* Every certificate in the folder tls of a data folder. */
static void check_certificates(struct doctor *d, const struct dev *dev)
{
    struct dirent **names = NULL;
    int n = scandir(dev->tls, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        struct err e = { 0 };
        struct str pem;
        struct x509_facts f = { 0 };
        const char *path = arena_printf(d->c->arena, "%s/%s", dev->tls, names[i]->d_name);
        bool is_cert = str_ends(str_c(names[i]->d_name), ".pem"), is_read = false;
        const char *name = arena_printf(d->c->arena, "certificate %s", names[i]->d_name);
        free(names[i]);
        if (!is_cert)
            continue;
        is_read = files_read(d->c->arena, path, &pem, &e) == ERR_OK &&
                  x509_read(d->c->arena, str_fmt(d->c->arena, "%.*s\n", STR_ARG(pem)), &f, &e) == ERR_OK;
        int64_t days = (f.not_after_us - clock_wall_us(&clock_system)) / 1000000 / 86400;
        const char *result = !is_read || days < 0 ? "fail" : days < CERT_WARN_DAYS ? "warn" : "ok";
        const char *seen = is_read ? arena_printf(d->c->arena, "ends in %lld days", (long long)days) : e.msg;
        check(d, name, result, seen,
            "falaj dev makes new ones at its next start; elsewhere replace the file, and it is taken up by itself");
    }
    free(names);
}

static void check_invariants(struct doctor *d, const char *token)
{
    struct api_reply r;
    struct err e = { 0 };
    struct api_req q = { .method = "GET", .path = "/v1/system/invariants", .token = token };
    if (api_send(d->c, &q, &r, &e) != ERR_OK || r.status != 200) {
        check(d, "invariants", "warn", "the API did not tell", "look at DATA/log/api.log");
        return;
    }
    const struct jval *data = jval_get(r.json, "data");
    for (size_t i = 0; i < jval_len(data); i++) {
        const struct jval *one = jval_at(data, i);
        int64_t n = jval_i64(jval_get(one, "violations"), -1);
        struct str name = jval_str(jval_get(one, "name")), doc = jval_str(jval_get(one, "doc"));
        const char *title = arena_printf(d->c->arena, "invariant %.*s", STR_ARG(name));
        check(d, title, n == 0 ? "ok" : "fail", arena_printf(d->c->arena, "%.*s: %lld violations", STR_ARG(doc), (long long)n), "this is a bug of Falaj: keep the data folder and report it");
    }
}

static void check_platform(struct doctor *d, struct dev *dev)
{
    struct err e = { 0 };
    struct str text, token;
    const struct jval *state = NULL;
    struct api_reply r;
    pid_t owner = access(dev->data, F_OK) == 0 ? state_owner(dev) : 0;
    if (!owner) {
        check(d, "falaj dev", "ok", arena_printf(d->c->arena, "none runs on %s", dev->data), "");
        return;
    }
    bool is_ready = files_read(d->c->arena, arena_printf(d->c->arena, "%s/dev.json", dev->data), &text, &e) == ERR_OK && jval_parse(d->c->arena, text, 0, &state, &e) == ERR_OK;
    check(d, "falaj dev", is_ready ? "ok" : "warn", arena_printf(d->c->arena, "runs on %s, pid %ld", dev->data, (long)owner), "it is starting or stopping; wait a moment");
    if (!is_ready)
        return;
    for (struct jval_iter it = jval_iter(jval_get(state, "pids")); jval_next(&it);) {
        int64_t pid = jval_i64(it.value, 0);
        bool runs = pid > 1 && access(arena_printf(d->c->arena, "/proc/%lld", (long long)pid), F_OK) == 0;
        check(d, arena_printf(d->c->arena, "process %s", it.name), runs ? "ok" : "fail", arena_printf(d->c->arena, "pid %lld", (long long)pid),
              arena_printf(d->c->arena, "its log is %s/%s.log", dev->logs, it.name));
    }
    d->c->profile.url = str_z(d->c->arena, jval_str(jval_get(state, "api_url")));
    struct api_req q = { .method = "GET", .path = "/readyz" };
    bool answers = api_send(d->c, &q, &r, &e) == ERR_OK;
    check(d, "api", answers && r.status == 200 ? "ok" : "fail", arena_printf(d->c->arena, "%s/readyz: %s", d->c->profile.url, !answers ? e.msg : r.status == 200 ? "ready" : "not ready"),
          arena_printf(d->c->arena, "its log is %s/api.log", dev->logs));
    if (answers && files_read(d->c->arena, arena_printf(d->c->arena, "%s/admin-token", dev->secrets), &token, &e) == ERR_OK)
        check_invariants(d, token.ptr);
}

int cmd_doctor(struct cli *c)
{
    struct doctor d = { .c = c, .rows = BUF(1 << 20) };
    struct dev *dev = ARENA_NEW(c->arena, struct dev);
    struct err e = { 0 };
    const struct jval *v;
    dev->c = c;
    dev->arena = c->arena;
    dev->lock_fd = -1;
    buf_add_c(&d.rows, "{\"data\":[");
    check(&d, "falaj", "ok", FALAJ_VERSION, "");
    enum errc found = dev_paths(dev, &e);
    check_programs(&d, dev);
    if (found == ERR_OK) {
        check_space(&d, dev);
        check_certificates(&d, dev);
        check_platform(&d, dev);
    }
    buf_add_c(&d.rows, "]}");
    struct str text = str_dup(c->arena, buf_str(&d.rows));
    buf_release(&d.rows);
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
