/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_demo.c - `falaj demo`: the steps in order, and the result at the end. */
#include <stdarg.h>
#include <time.h>
#include <unistd.h>
#include "cli/demo.h"
#include "cli/dev/dev.h"
#include "cli/embed.h"
#include "core/base/clock.h"

int demo_try(struct demo *m, const char *token, const char *method, const char *path, const char *body, struct api_reply *ret)
{
    struct err e = { 0 };
    struct api_req q = { .method = method, .path = path, .body = body ? str_c(body) : STR_NULL, .token = token };
    if (api_send(m->c, &q, ret, &e) != ERR_OK)
        return cli_fail_err(m->c, &e, arena_printf(m->c->arena, "%s %s at %s; 'falaj dev status' shows whether it runs", method, path, m->c->profile.url));
    return CLI_OK;
}

int demo_call(struct demo *m, const char *token, const char *method, const char *path, const char *body, int status, struct api_reply *ret)
{
    int rc = demo_try(m, token, method, path, body, ret);
    if (rc != CLI_OK || ret->status == status)
        return rc;
    if (ret->status >= 200 && ret->status < 300)
        return cli_fail(m->c, CLI_FAILED, NULL, "%s %s answered %d, not %d", method, path, ret->status, status);
    fprintf(m->c->err, "%s %s answered %d:\n", method, path, ret->status);
    return api_tell(m->c, ret);
}

const char *demo_text(struct demo *m, const struct api_reply *r, const char *member)
{
    struct str s = jval_str(jval_get(r->json, member));
    return s.ptr ? str_z(m->c->arena, s) : "";
}

void demo_title(struct demo *m, int step, const char *text)
{
    fprintf(m->say, "%s%s%d/6  %s%s\n", step > 1 ? "\n" : "", m->is_live ? "\033[1m" : "", step, text, m->is_live ? "\033[0m" : "");
    fflush(m->say);
}

void demo_line(struct demo *m, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs(m->is_live ? "\r\033[K     " : "     ", m->say);
    vfprintf(m->say, fmt, ap);
    va_end(ap);
    fputc('\n', m->say);
    fflush(m->say);
}

void demo_progress(struct demo *m, const char *fmt, ...)
{
    if (!m->is_live)
        return;
    va_list ap;
    va_start(ap, fmt);
    fputs("\r\033[K     ", m->say);
    vfprintf(m->say, fmt, ap);
    va_end(ap);
    fflush(m->say);
}

double demo_now_s(void)
{
    return (double)clock_mono_us(&clock_system) / 1e6;
}

void demo_sleep_ms(int ms)
{
    nanosleep(&(struct timespec){ ms / 1000, (long)(ms % 1000) * 1000000 }, NULL);
}

/* Where the platform is and the administrator's token: from the data folder of falaj dev. */
static int find_platform(struct demo *m)
{
    struct cli *c = m->c;
    struct dev *d = ARENA_NEW(c->arena, struct dev);
    struct err e = { 0 };
    struct str token, text;
    const struct jval *state;
    d->c = c;
    d->arena = c->arena;
    if (dev_paths(d, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    m->data = d->data;
    if (files_read(c->arena, arena_printf(c->arena, "%s/dev.json", d->data), &text, &e) != ERR_OK || jval_parse(c->arena, text, 0, &state, &e) != ERR_OK ||
        files_read(c->arena, arena_printf(c->arena, "%s/admin-token", d->secrets), &token, &e) != ERR_OK)
        return cli_fail(c, CLI_NETWORK, "start it with 'falaj dev', and name the same --data here", "no falaj dev is ready on %s", d->data);
    m->admin = token.ptr;
    m->zone = str_z(c->arena, jval_str(jval_get(state, "zone")));
    m->far_zone = strcmp(m->zone, "ae-auh-1") == 0 ? "ae-shj-1" : "ae-auh-1";
    c->profile.url = str_z(c->arena, jval_str(jval_get(state, "api_url")));
    c->profile.url_from = arena_printf(c->arena, "%s/dev.json", d->data);
    c->profile.token = NULL;
    return CLI_OK;
}

static int read_options(struct demo *m)
{
    struct err e = { 0 };
    const char *csv = cli_flag(m->c, "digits");
    m->epochs = 60;
    m->csv = embed_digits_csv();
    if (csv && cli_read_file(m->c->arena, csv, 64 << 20, &m->csv, &e) != ERR_OK)
        return cli_fail_err(m->c, &e, NULL);
    return cli_flag_i64(m->c, "epochs", 1, 10000, &m->epochs);
}

static void print_json(struct demo *m, bool is_ok, double total_s)
{
    fprintf(m->c->out, "{\"ok\":%s,\"accuracy\":%.4f,\"infer_p50_ms\":%.3f,\"infer_p95_ms\":%.3f,\"train_s\":%.3f,\"demo_s\":%.3f}\n",
            is_ok ? "true" : "false", m->accuracy, m->infer_p50_ms, m->infer_p95_ms, m->train_s, total_s);
}

static void print_end(struct demo *m, double total_s)
{
    const char *data = cli_flag(m->c, "data") ? arena_printf(m->c->arena, " --data %s", m->data) : "", *url = m->c->profile.url;
    fprintf(m->say, "\nAll six steps worked in %.1f s: accuracy %.4f, inference p50 %.2f ms. Go on by yourself:\n\n", total_s, m->accuracy, m->infer_p50_ms);
    dev_say_path(m->say);
    fprintf(m->say, "  falaj login --url %s --name %s --with-token < %s/secrets/demo-owner\n"
                    "  falaj job list\n  falaj infer digits %s/image.json      # the pixels of a %lld\n  falaj audit events\n  falaj dev stop%s\n"
                    "  falaj dev remove%s                     # stops it and removes %s\n\nThe API is %s, its contract %s/openapi.json.\n",
            url, m->tenant, m->data, m->data, (long long)m->image_class, data, data, m->data, url, url);
}

int cmd_demo(struct cli *c)
{
    static int (*const steps[])(struct demo *) = { demo_setup, demo_upload, demo_train, demo_serve, demo_isolation, demo_audit };
    bool is_json = cli_has(c, "json");
    struct demo *m = ARENA_NEW(c->arena, struct demo);
    *m = (struct demo){ .c = c, .say = is_json ? c->err : c->out };
    m->is_live = isatty(fileno(m->say)) && !c->is_quiet && c->is_color;
    double start_s = demo_now_s();
    int rc = find_platform(m);
    if (rc == CLI_OK)
        rc = read_options(m);
    int first = rc;
    for (size_t i = 0; rc == CLI_OK && i < sizeof(steps) / sizeof(steps[0]); i++) {
        rc = steps[i](m);
        first = first == CLI_OK ? rc : first;
        if (rc != CLI_OK)
            fprintf(c->err, "  step %zu of 6 failed; the logs are in %s/log\n", i + 1, m->data);
        if (rc != CLI_OK && cli_has(c, "keep-going") && i >= 2 && m->job_id)
            rc = CLI_OK;
    }
    double total_s = demo_now_s() - start_s;
    if (first == CLI_OK)
        print_end(m, total_s);
    if (is_json)
        print_json(m, first == CLI_OK, total_s);
    return first;
}
