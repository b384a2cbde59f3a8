/* SPDX-License-Identifier: Apache-2.0 */
/* follow.c - one job's events as they happen, until it ends.
 *
 * The stream ends with an `end` event; where it ends without one, the job is asked for its state, so that a server that closes
 * streams early costs a reconnection and never a wrong answer. */
#include "cli/follow.h"
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include "cli/client.h"
#include "cli/output.h"
#include "core/base/clock.h"
#include "core/http/sse.h"

enum { EVENT_MAX = 1 << 20, IDLE_MS = 45000, LOST_MAX = 20 };

struct stream {
    struct follow *f;
    struct sse_parser *parser;
    bool is_ended;
};

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    static const char text[] = "\nStopped following; the job goes on.\n";
    ssize_t n = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)n;
    _exit(CLI_INTERRUPTED);
}

bool follow_is_end(const char *state)
{
    static const char *const live[] = { "", "PENDING", "ADMITTED", "STARTING", "RUNNING", "PREEMPTING", "HELD", "SUSPENDED",
                                        NULL };
    for (int i = 0; live[i]; i++) {
        if (strcmp(state, live[i]) == 0)
            return false;
    }
    return true;
}

/* Log text comes from a program that nobody vouches for: control bytes other than tab do not reach the terminal. */
void follow_print_log(FILE *out, const struct jval *line)
{
    struct str text = jval_str(jval_get(line, "text"));
    while (text.len && text.ptr[text.len - 1] == '\n')
        text.len--;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char ch = (unsigned char)text.ptr[i];
        fputc((ch < 0x20 && ch != '\t' && ch != '\n') || ch == 0x7f ? '?' : ch, out);
    }
    fputc('\n', out);
    fflush(out);
}

static void print_event(struct follow *f, const char *type, const struct jval *data)
{
    struct cli *c = f->c;
    if (strcmp(type, "log") == 0 && (f->show & FOLLOW_LOGS)) {
        follow_print_log(f->logs ? f->logs : c->out, data);
    } else if (strcmp(type, "state") == 0 && (f->show & FOLLOW_STATES)) {
        struct str reason = output_text(c->arena, jval_get(data, "reason")), message = output_text(c->arena, jval_get(data, "message"));
        fprintf(f->show & FOLLOW_LOGS ? c->err : c->out, "%s%s%.*s%s%.*s\n", f->state, reason.len ? "  " : "", STR_ARG(reason), message.len ? "  " : "", STR_ARG(message));
        fflush(c->out);
    } else if (strcmp(type, "metric") == 0 && (f->show & FOLLOW_METRICS)) {
        fprintf(c->out, "step %lld", (long long)jval_i64(jval_get(data, "step"), 0));
        for (struct jval_iter it = jval_iter(jval_get(data, "values")); jval_next(&it);)
            fprintf(c->out, "  %s %.6g", it.name, jval_f64(it.value, 0));
        fputc('\n', c->out);
        fflush(c->out);
    }
}

static bool on_event(void *ctx, const struct sse_event *ev)
{
    struct stream *s = ctx;
    struct follow *f = s->f;
    struct err ignored;
    const struct jval *data = NULL;
    const char *type = str_z(f->c->arena, ev->type);
    if (jval_parse(f->c->arena, str_dup(f->c->arena, ev->data), 0, &data, &ignored) != ERR_OK)
        data = NULL;
    struct str state = jval_str(jval_get(data, "state"));
    if (state.len && state.len < sizeof(f->state))
        snprintf(f->state, sizeof(f->state), "%.*s", STR_ARG(state));
    if (f->on_event)
        f->on_event(f->ctx, type, data);
    else
        print_event(f, type, data);
    s->is_ended = strcmp(type, "end") == 0;
    return !s->is_ended && !ferror(f->c->out);
}

static bool on_bytes(void *ctx, const char *p, size_t n)
{
    struct stream *s = ctx;
    struct err e;
    bool stopped = false;
    if (sse_parser_feed(s->parser, p, n, &stopped, &e) != ERR_OK)
        return false;
    return !stopped;
}

static bool is_unwanted(void *ctx)
{
    struct follow *f = ctx;
    return cli_reader_is_gone(f->c) || (f->is_unwanted && f->is_unwanted(f->ctx));
}

static int ask_state(struct follow *f)
{
    struct api_reply r;
    struct api_req q = { .method = "GET", .path = arena_printf(f->c->arena, "/v1/jobs/%s", api_escape(f->c->arena, f->job)), .token = f->token };
    int rc = api_do(f->c, &q, &r);
    if (rc == CLI_OK)
        snprintf(f->state, sizeof(f->state), "%.*s", STR_ARG(jval_str(jval_get(r.json, "state"))));
    return rc;
}

static int read_streams(struct stream *s, int64_t deadline_us)
{
    struct follow *f = s->f;
    for (int lost = 0; lost < LOST_MAX;) {
        int64_t left_ms = deadline_us ? (deadline_us - clock_mono_us(&clock_system)) / 1000 : -1;
        if (deadline_us && left_ms <= 0)
            return cli_fail(f->c, CLI_TIMEOUT, "it goes on; wait again for longer", "the job did not end in time");
        struct err e = { 0 };
        struct api_reply r = { 0 };
        struct str last = sse_parser_last_id(s->parser);
        struct api_req q = { .method = "GET", .path = arena_printf(f->c->arena, "/v1/jobs/%s/events", api_escape(f->c->arena, f->job)), .accept = "text/event-stream",
                             .token = f->token, .last_event_id = str_z(f->c->arena, last), .on_data = on_bytes, .ctx = s,
                             .timeout_ms = (int)(left_ms > 0 && left_ms < 1000000000 ? left_ms : -1), .idle_timeout_ms = IDLE_MS,
                             .is_unwanted = is_unwanted, .unwanted_ctx = f };
        enum errc rc = api_send(f->c, &q, &r, &e);
        if (s->is_ended)
            return CLI_OK;
        if (is_unwanted(f) || ferror(f->c->out))
            return CLI_FAILED;      /* main tells of a full disk; who closed the pipe knows */
        if (rc == ERR_OK && (r.status < 200 || r.status >= 300))
            return api_tell(f->c, &r);
        lost = rc == ERR_OK || rc == ERR_DEADLINE ? 0 : lost + 1;
        if (rc == ERR_OK || rc == ERR_DEADLINE) {
            int asked = ask_state(f);
            if (asked != CLI_OK || follow_is_end(f->state))
                return asked;
        }
        nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
    }
    return cli_fail(f->c, CLI_NETWORK, "the job goes on; follow it again later", "the connection to the API was lost %d times", LOST_MAX);
}

int follow_run(struct follow *f)
{
    struct sigaction act = { .sa_handler = on_interrupt }, before;
    struct stream s = { .f = f };
    s.parser = sse_parser_new(EVENT_MAX, on_event, &s);
    sigaction(SIGINT, &act, &before);
    int rc = read_streams(&s, f->timeout_s ? clock_mono_us(&clock_system) + f->timeout_s * 1000000 : 0);
    if (rc == CLI_OK && !follow_is_end(f->state))
        rc = ask_state(f);
    sigaction(SIGINT, &before, NULL);
    sse_parser_free(s.parser);
    if (rc != CLI_OK)
        return rc;
    return strcmp(f->state, "COMPLETED") == 0 ? CLI_OK : CLI_JOB_FAILED;
}
