/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_support.c - `falaj support bundle`: what a maintainer needs to see, in one file that its sender can read first.
 *
 * Nothing is taken and then cleaned; only what is named here is taken, and none of it is text that a person wrote: results of
 * checks without what they saw,
 * settings that are numbers, switches or choices (of texts, only whether they are set), states and numbers of the platform's
 * parts, counts of log
 * events by name. Names, paths, addresses, ids, messages and lines of logs are never in it. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "cli/client.h"
#include "cli/doctor.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"

enum { BUNDLE_MAX = 8 << 20, LOG_MAX = 64 << 20, EVENTS_MAX = 400, NAME_MAX_ = 48, LINE = 1 << 16 };

/* Every setting, and what of its value may be shown: a number, a switch, one of its choices, or of a text only whether it is
 * set. */
enum shown { SHOWN_NUMBER, SHOWN_SWITCH, SHOWN_CHOICE, SHOWN_SET };
#define SHOWN_INT SHOWN_NUMBER
#define SHOWN_SIZE SHOWN_NUMBER
#define SHOWN_DURATION_MS SHOWN_NUMBER
#define SHOWN_BOOL SHOWN_SWITCH
#define SHOWN_STR SHOWN_SET
static const struct known { const char *key; enum shown shown; const char *choices; } known[] = {
#define CFG(section, name, type, dflt, min, max, flags, doc) { #section "." #name, SHOWN_##type, "" },
#define CFG_ENUM(section, name, values, dflt, flags, doc) { #section "." #name, SHOWN_CHOICE, values },
#include "core/table/config.def"
#undef CFG
#undef CFG_ENUM
};

static const struct known *known_of(struct str key)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_eq_c(key, known[i].key))
            return &known[i];
    return NULL;
}

/* A word of our own making: what stands in logs and answers as a name of an event, a check, a state. */
static bool is_word(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-", s.ptr[i]))
            return false;
    return s.len > 0 && s.len <= NAME_MAX_;
}

/* What a file says need not be what its row allows: anything else than that is only set. */
static bool may_show(const struct known *k, struct str value)
{
    size_t digits = 0;
    bool is_on;
    while (digits < value.len && value.ptr[digits] >= '0' && value.ptr[digits] <= '9')
        digits++;
    if (k->shown == SHOWN_NUMBER)
        return digits > 0 && digits <= 19 && value.len - digits <= 2 && is_word(value);
    if (k->shown == SHOWN_SWITCH)
        return str_to_bool(value, &is_on);
    for (struct str rest = str_c(k->choices), one; k->shown == SHOWN_CHOICE;) {
        bool more = str_cut(rest, '|', &one, &rest);
        if (str_eq(one, value))
            return true;
        if (!more)
            break;
    }
    return false;
}

static void one_file(struct buf *b, struct str text, size_t *n)
{
    struct str line, key, value;
    for (bool more = true; more;) {
        more = str_cut(text, '\n', &line, &text);
        const struct known *k = str_cut(str_trim(line), '=', &key, &value) ? known_of(str_trim(key)) : NULL;
        value = str_trim(value);
        if (!k)
            continue;
        buf_printf(b, "%s\"%s\":", (*n)++ ? "," : "", k->key);
        buf_add_json(b, may_show(k, value) ? value : value.len ? STR("set") : STR("empty"));
    }
}

static void add_settings(struct cli *c, struct buf *b, const char *etc)
{
    static const char *const files[] = { "api.conf", "scheduler.conf", "worker.conf", "backup.conf", NULL };
    size_t shown = 0;
    buf_add_c(b, ",\"settings\":{");
    for (int i = 0; etc && files[i]; i++) {
        struct str text;
        struct err e;
        size_t n = 0;
        if (cli_read_file(c->arena, arena_printf(c->arena, "%s/%s", etc, files[i]), 1 << 18, &text, &e) != ERR_OK)
            continue;
        buf_printf(b, "%s\"%s\":{", shown++ ? "," : "", files[i]);
        one_file(b, text, &n);
        buf_add_char(b, '}');
    }
    buf_add_char(b, '}');
}

/* check and result, of rows whose names are ours; "certificate FILE" names a file, so it stands for all of them. */
static void add_checks(struct buf *b, const struct jval *rows)
{
    buf_add_c(b, ",\"checks\":[");
    for (size_t i = 0; i < jval_len(rows); i++) {
        struct str name = jval_str(jval_get(jval_at(rows, i), "check")), word, rest;
        bool has_more = str_cut(name, ' ', &word, &rest);
        bool is_named = has_more && (str_eq_c(word, "certificate") || str_eq_c(word, "part") || str_eq_c(word, "process"));
        buf_printf(b, "%s{\"check\":", i ? "," : "");
        buf_add_json(b, is_named ? word : name);
        buf_printf(b, ",\"result\":\"%.*s\"}", STR_ARG(jval_str(jval_get(jval_at(rows, i), "result"))));
    }
    buf_add_char(b, ']');
}

static void add_part(struct buf *b, const struct jval *part)
{
    const struct jval *facts = jval_get(part, "facts");
    buf_add_c(b, "{\"name\":");
    buf_add_json(b, jval_str(jval_get(part, "name")));
    buf_add_c(b, ",\"state\":");
    buf_add_json(b, jval_str(jval_get(part, "state")));
    for (size_t k = 0; k < jval_len(facts); k++) {
        buf_add_char(b, ',');
        buf_add_json(b, jval_str(jval_get(jval_at(facts, k), "name")));
        buf_printf(b, ":%lld", (long long)jval_i64(jval_get(jval_at(facts, k), "value"), 0));
    }
    buf_add_char(b, '}');
}

static void add_health(struct cli *c, struct buf *b)
{
    struct api_reply r;
    struct err e;
    struct api_req q = { .method = "GET", .path = "/v1/system/health", .is_once = true };
    if (!c->profile.url || !c->profile.token || api_send(c, &q, &r, &e) != ERR_OK || r.status != 200)
        return;
    const struct jval *parts = jval_get(r.json, "components");
    buf_printf(b, ",\"uptime_s\":%lld,\"parts\":[", (long long)jval_i64(jval_get(r.json, "uptime_s"), 0));
    for (size_t i = 0; i < jval_len(parts); i++) {
        if (i)
            buf_add_char(b, ',');
        add_part(b, jval_at(parts, i));
    }
    buf_add_char(b, ']');
}

struct tally {
    struct { char name[NAME_MAX_ + 8]; long long n; } rows[EVENTS_MAX];
    size_t n;
};

/* level=… event=… of a line in either form. */
static struct str member(struct str line, const char *logfmt, const char *json)
{
    const char *at = memmem(line.ptr, line.len, logfmt, strlen(logfmt));
    size_t skip = strlen(logfmt);
    if (!at && (at = memmem(line.ptr, line.len, json, strlen(json))))
        skip = strlen(json);
    if (!at)
        return STR_NULL;
    const char *from = at + skip, *to = from;
    while (to < line.ptr + line.len && !strchr(" \"\n", *to))
        to++;
    return str_n(from, (size_t)(to - from));
}

static void count_line(struct tally *t, struct str line)
{
    char name[NAME_MAX_ + 8];
    struct str level = member(line, "level=", "\"level\":\""), event = member(line, "event=", "\"event\":\"");
    if (!is_word(event) || level.len > 5)
        return;
    snprintf(name, sizeof name, "%.*s %.*s", STR_ARG(level), STR_ARG(event));
    size_t i = 0;
    while (i < t->n && strcmp(t->rows[i].name, name) != 0)
        i++;
    if (i == EVENTS_MAX)
        return;
    if (i == t->n)
        memcpy(t->rows[t->n++].name, name, sizeof name);
    t->rows[i].n++;
}

static void count_file(struct cli *c, struct tally *t, const char *path)
{
    (void)c;
    char line[LINE];
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        count_line(t, str_c(line));
    if (f)
        fclose(f);
}

static void add_logs(struct cli *c, struct buf *b, const char *dir)
{
    struct dirent **names = NULL;
    int n = scandir(dir, &names, NULL, alphasort);
    struct tally *t = ARENA_NEW(c->arena, struct tally);
    for (int i = 0; i < n; i++) {
        if (str_ends(str_c(names[i]->d_name), ".log"))
            count_file(c, t, arena_printf(c->arena, "%s/%s", dir, names[i]->d_name));
        free(names[i]);
    }
    free(names);
    buf_add_c(b, ",\"log_events\":{");
    for (size_t i = 0; i < t->n; i++) {
        buf_printf(b, "%s", i ? "," : "");
        buf_add_json(b, str_c(t->rows[i].name));
        buf_printf(b, ":%lld", t->rows[i].n);
    }
    buf_add_char(b, '}');
}

static void add_machine(struct buf *b)
{
    struct utsname u;
    char at[TIME_TEXT];
    time_text(clock_wall_us(&clock_system), at);
    bool is_told = uname(&u) == 0;
    buf_printf(b, "{\"format\":1,\"made_at\":\"%s\",\"falaj\":\"%s\",\"kernel\":\"%s\",\"machine\":\"%s\"", at, FALAJ_VERSION,
               is_told ? u.release : "", is_told ? u.machine : "");
    buf_printf(b, ",\"cpus\":%ld,\"memory_mib\":%lld", sysconf(_SC_NPROCESSORS_ONLN),
               (long long)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / (1 << 20));
}

static enum errc write_out(const char *path, struct str text, struct err *e)
{
    CLEANUP(fd_closep) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    for (size_t at = 0; fd >= 0 && at < text.len;) {
        ssize_t n = write(fd, text.ptr + at, text.len - at);
        if (n <= 0)
            return FAIL(e, IO, "%s cannot be written", path);
        at += (size_t)n;
    }
    return fd < 0 ? FAIL(e, IO, "%s cannot be made; an older file is not written over", path) : ERR_OK;
}

int cmd_support(struct cli *c)
{
    CLEANUP(buf_releasep) struct buf b = BUF(BUNDLE_MAX);
    struct doctor d = { .c = c, .rows = BUF(1 << 20) };
    const struct jval *v = NULL;
    const char *etc = NULL, *path = cli_flag(c, "file"), *logs;
    struct err e;
    doctor_all(&d, &etc);
    struct str rows = str_fmt(c->arena, "[%s]", d.rows.ptr ? d.rows.ptr : "");
    buf_release(&d.rows);
    if (jval_parse(c->arena, rows, 0, &v, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    add_machine(&b);
    add_checks(&b, v);
    add_settings(c, &b, etc);
    add_health(c, &b);
    logs = cli_flag(c, "logs");
    add_logs(c, &b, logs ? logs : etc ? arena_printf(c->arena, "%s/../log", etc) : "/nonexistent");
    buf_add_c(&b, "}\n");
    if (b.overflow)
        return cli_fail(c, CLI_FAILED, NULL, "the bundle would be larger than %d MiB", BUNDLE_MAX >> 20);
    if (!path) {
        fwrite(b.ptr, 1, b.len, c->out);
        return CLI_OK;
    }
    if (write_out(path, buf_str(&b), &e) != ERR_OK)
        return cli_fail_err(c, &e, "name another file");
    cli_note(c, "%s: read it before you send it; it has no names, addresses, paths, ids, messages or secrets", path);
    return CLI_OK;
}
