/* SPDX-License-Identifier: Apache-2.0 */
/* complete_names.c - `falaj __complete WORD…`: what the last word could be, one candidate a line, for the completion scripts.
 *
 * The words are those after the program's name, the last one perhaps empty. Known are values of flags, profiles, and names and
 * ids of
 * objects wherever a row of the table looks one up. Names come from the API, once in 30 s and place: they are kept in
 * $XDG_CACHE_HOME/falaj (else ~/.cache/falaj), mode 0600, under a digest of address, token and list. A person waits at the
 * prompt, so
 * the API gets two seconds, and whatever goes wrong gives no candidates and no text. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "cli/client.h"
#include "cli/spec_flags.h"
#include "core/base/cleanup.h"
#include "core/crypto/hash.h"

enum { KEEP_S = 30, CALL_MS = 2000, CACHE_MAX = 1 << 20, PAGE = 200 };

static const char *cache_dir(struct arena *a)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (xdg && *xdg == '/')
        return arena_printf(a, "%s/falaj", xdg);
    return home && *home ? arena_printf(a, "%s/.cache/falaj", home) : NULL;
}

static const char *cache_path(struct cli *c, const char *list)
{
    uint8_t sum[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    const char *dir = cache_dir(c->arena);
    const char *key = arena_printf(c->arena, "%s\n%s\n%s", c->profile.url, c->profile.token ? c->profile.token : "", list);
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, key, strlen(key));
    sha256_final(&s, sum);
    hex_encode(sum, sizeof(sum), hex);
    return dir ? arena_printf(c->arena, "%s/names-%.24s", dir, hex) : NULL;
}

static bool read_cache(struct cli *c, const char *path, struct str *ret)
{
    struct stat st;
    struct err ignored = { 0 };
    bool is_fresh = path && lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid()
        && st.st_mtime + KEEP_S > time(NULL);
    return is_fresh && cli_read_file(c->arena, path, CACHE_MAX, ret, &ignored) == ERR_OK;
}

static void write_cache(struct cli *c, const char *path, struct str text)
{
    if (!path)
        return;
    const char *dir = cache_dir(c->arena), *fresh = arena_printf(c->arena, "%s.%ld", path, (long)getpid());
    const char *above = arena_strndup(c->arena, dir, (size_t)(strrchr(dir, '/') - dir));
    if ((mkdir(above, 0700) < 0 && errno != EEXIST) || (mkdir(dir, 0700) < 0 && errno != EEXIST))
        return;
    CLEANUP(fd_closep) int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (write(fd, text.ptr, text.len) != (ssize_t)text.len || rename(fresh, path) < 0)
        unlink(fresh);
}

/* "name\tid\n" of the newest objects of a kind. */
static bool fetch_names(struct cli *c, const struct noun *noun, struct str *ret)
{
    struct api_reply r;
    struct err e = { 0 };
    struct api_req q = { .method = "GET", .path = arena_printf(c->arena, "%s?page_size=%d", noun->list, PAGE),
        .timeout_ms = CALL_MS, .is_once = true };
    if (api_send(c, &q, &r, &e) != ERR_OK || r.status != 200)
        return false;
    CLEANUP(buf_releasep) struct buf b = BUF(CACHE_MAX);
    const struct jval *data = jval_get(r.json, "data");
    for (size_t i = 0; i < jval_len(data); i++) {
        struct str name = jval_str(jval_get(jval_at(data, i), "name")), id = jval_str(jval_get(jval_at(data, i), noun->id));
        if (str_find(name, '\n') < 0 && str_find(name, '\t') < 0)
            buf_printf(&b, "%.*s\t%.*s\n", STR_ARG(name), STR_ARG(id));
    }
    *ret = str_dup(c->arena, buf_str(&b));
    return !b.overflow;
}

static void print_names(struct cli *c, const struct noun *noun, const char *begin)
{
    struct str text, line, name, id;
    const char *path = cache_path(c, noun->list);
    if (!read_cache(c, path, &text)) {
        if (!fetch_names(c, noun, &text))
            return;
        write_cache(c, path, text);
    }
    for (bool more = true; more;) {
        more = str_cut(text, '\n', &line, &text);
        str_cut(line, '\t', &name, &id);
        if (name.len && str_starts(name, begin))
            fprintf(c->out, "%.*s\n", STR_ARG(name));
        if (id.len && *begin && str_starts(str_c(begin), noun->prefix) && str_starts(id, begin))
            fprintf(c->out, "%.*s\n", STR_ARG(id));
    }
}

static void print_profiles(struct cli *c, const char *begin)
{
    struct err e = { 0 };
    struct profile_file *f = ARENA_NEW(c->arena, struct profile_file);
    if (profile_file_load(c->arena, f, &e) != ERR_OK)
        return;
    for (size_t i = 0; i < f->count; i++) {
        if (str_starts(str_c(f->profiles[i].name), begin))
            fprintf(c->out, "%s\n", f->profiles[i].name);
    }
}

static void print_values(struct cli *c, const char *values, const char *begin)
{
    struct str rest = str_c(values), one;
    for (bool more = true; more;) {
        more = str_cut(rest, '|', &one, &rest);
        if (one.len && str_starts(one, begin))
            fprintf(c->out, "%.*s\n", STR_ARG(one));
    }
}

/* The kind that a row looks up for this source ("user", "@1"): its word is "&user_id=SOURCE". */
static const struct noun *noun_of(const char *spec, const char *source)
{
    struct str rest = str_c(spec ? spec : ""), word, name, from;
    for (bool more = true; more;) {
        more = str_cut(rest, ' ', &word, &rest);
        bool is_named = word.len && word.ptr[0] == '&';
        str_cut(word, '=', &name, &from);
        if (is_named && str_eq_c(from, source))
            return noun_by_id(str_n(name.ptr + 1, name.len - 1));
    }
    return NULL;
}

static void print_source(struct cli *c, const struct command *cmd, const char *source, const char *begin)
{
    const struct noun *noun = noun_of(cmd->body, source);
    noun = noun ? noun : noun_of(cmd->query, source);
    if (!noun && cmd->noun && strcmp(source, "@0") == 0)
        noun = cmd->noun;
    if (cmd->run == cmd_profile_use)
        print_profiles(c, begin);
    else if (noun)
        print_names(c, noun, begin);
}

static const struct cli_flag *flag_by(const struct cli_flag *list, const char *word)
{
    for (const struct cli_flag *f = list; f && f->name; f++) {
        if (word[1] == '-' ? strcmp(word + 2, f->name) == 0 : f->letter == word[1] && !word[2])
            return f;
    }
    return NULL;
}

static const struct cli_flag *flag_of(const struct command *cmd, const char *word)
{
    const struct cli_flag *f = cmd ? flag_by(command_flags(cmd), word) : NULL;
    return f ? f : flag_by(global_flags, word);
}

/* The words before the last one: their command, how many arguments it has, and the flag whose value the last word is. */
static const struct command *read_words(struct cli *c, int *args, const struct cli_flag **flag)
{
    const struct command *cmd = NULL;
    const char *group = NULL;
    *args = 0;
    for (int i = 0; i + 1 < c->nargs; i++) {
        const char *word = c->args[i];
        *flag = NULL;
        if (word[0] == '-' && word[1]) {
            const struct cli_flag *f = flag_of(cmd, word);
            bool has_value = f && f->arg && !strchr(word, '=');
            if (has_value && i + 2 < c->nargs && c->ngiven < CLI_FLAGS_MAX)
                c->given[c->ngiven++] = (struct cli_given){ f, c->args[++i] };
            else if (has_value)
                *flag = f;
        } else if (cmd) {
            ++*args;
        } else if (group) {
            cmd = command_find(group, word);
        } else {
            cmd = command_find(NULL, word);
            group = word;
        }
    }
    return cmd;
}

int cmd_complete(struct cli *c)
{
    const struct cli_flag *flag = NULL;
    struct err e = { 0 };
    int args;
    if (!c->nargs)
        return CLI_OK;
    const char *begin = c->args[c->nargs - 1];
    const struct command *cmd = read_words(c, &args, &flag);
    if (profile_resolve(c->arena, cli_flag(c, "profile"), cli_flag(c, "url"), cli_flag(c, "ca-cert"), &c->profile, &e) != ERR_OK)
        return CLI_OK;
    if (flag && flag->values)
        print_values(c, flag->values, begin);
    else if (flag && strcmp(flag->name, "profile") == 0)
        print_profiles(c, begin);
    else if (flag && cmd)
        print_source(c, cmd, flag->name, begin);
    else if (cmd && args < cmd->max)
        print_source(c, cmd, arena_printf(c->arena, "@%d", args), begin);
    return CLI_OK;
}
