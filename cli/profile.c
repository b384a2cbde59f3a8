/* SPDX-License-Identifier: Apache-2.0 */
/* profile.c - where falaj talks to and as whom: named profiles in one file of the person.
 *
 * The file is read line by line and written whole to a temporary neighbour that is renamed over it, so a reader never sees half a
 * file. The mode is set when the temporary file is made: a token is never readable for others, not even for a moment. */
#include "cli/profile.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/base/cleanup.h"
#include "core/base/str.h"

enum { FILE_MAX = 1 << 20 };

static const char *config_dir(struct arena *a)
{
    const char *own = getenv("FALAJ_CONFIG_DIR");
    if (own && *own)
        return own;
    const char *xdg = getenv("XDG_CONFIG_HOME");
    if (xdg && *xdg == '/')
        return arena_printf(a, "%s/falaj", xdg);
    const char *home = getenv("HOME");
    return arena_printf(a, "%s/.config/falaj", home && *home ? home : "/nonexistent");
}

static bool name_is_good(const char *name)
{
    if (!name || !*name || strlen(name) > 64)
        return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == strlen(name);
}

struct profile *profile_find(struct profile_file *f, const char *name)
{
    for (size_t i = 0; name && i < f->count; i++) {
        if (strcmp(f->profiles[i].name, name) == 0)
            return &f->profiles[i];
    }
    return NULL;
}

static enum errc parse_line(struct arena *a, struct profile_file *f, struct profile **at, struct str line, int number, struct err *e)
{
    line = str_trim(line);
    if (line.len == 0 || line.ptr[0] == '#')
        return ERR_OK;
    if (line.ptr[0] == '[') {
        const char *name = str_z(a, str_n(line.ptr + 1, line.len - 1));
        size_t n = strlen(name);
        if (n < 2 || name[n - 1] != ']')
            return FAIL(e, INVALID, "%s:%d: a profile starts with [NAME]", f->path, number);
        name = arena_strndup(a, name, n - 1);
        TRY(profile_put(f, name, NULL, NULL, e));
        *at = profile_find(f, name);
        return ERR_OK;
    }
    struct str key, value;
    if (!str_cut(line, '=', &key, &value))
        return FAIL(e, INVALID, "%s:%d: a line is \"name = value\"", f->path, number);
    key = str_trim(key);
    value = str_trim(value);
    if (!*at && str_eq_c(key, "current"))
        f->current = str_z(a, value);
    else if (*at && str_eq_c(key, "url"))
        (*at)->url = str_z(a, value);
    else if (*at && str_eq_c(key, "token"))
        (*at)->token = str_z(a, value);
    else if (*at && str_eq_c(key, "ca_cert"))
        (*at)->ca_cert = str_z(a, value);
    else
        return FAIL(e, INVALID, "%s:%d: unknown setting '%.*s'", f->path, number, STR_ARG(key));
    return ERR_OK;
}

enum errc profile_file_load(struct arena *a, struct profile_file *ret, struct err *e)
{
    struct profile_file *f = ARENA_NEW(a, struct profile_file);
    f->path = arena_printf(a, "%s/config", config_dir(a));
    CLEANUP(fd_closep) int fd = open(f->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            return FAIL(e, IO, "%s cannot be read: %s", f->path, strerror(errno));
        *ret = *f;
        return ERR_OK;
    }
    CLEANUP(buf_releasep) struct buf b = BUF(FILE_MAX);
    char chunk[4096];
    for (ssize_t n; (n = read(fd, chunk, sizeof(chunk))) != 0;) {
        if (n < 0 || !buf_add(&b, chunk, (size_t)n))
            return FAIL(e, IO, "%s cannot be read: %s", f->path, n < 0 ? strerror(errno) : "it is too large");
    }
    struct str rest = buf_str(&b), line;
    struct profile *at = NULL;
    int number = 0;
    for (bool more = true; more;) {
        more = str_cut(rest, '\n', &line, &rest);
        TRY(parse_line(a, f, &at, line, ++number, e));
    }
    *ret = *f;
    return ERR_OK;
}

static enum errc make_dirs(const char *path, struct err *e)
{
    char part[4096];
    size_t n = strlen(path);
    if (n >= sizeof(part))
        return FAIL(e, INVALID, "the path is too long");
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0700) < 0 && errno != EEXIST)
            return FAIL(e, IO, "%s cannot be made: %s", part, strerror(errno));
    }
    return ERR_OK;
}

enum errc profile_file_save(struct arena *a, const struct profile_file *f, struct err *e)
{
    const char *slash = strrchr(f->path, '/');
    TRY(make_dirs(arena_strndup(a, f->path, (size_t)(slash - f->path)), e));
    const char *fresh = arena_printf(a, "%s.%ld", f->path, (long)getpid());
    CLEANUP(fd_closep) int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return FAIL(e, IO, "%s cannot be written: %s", fresh, strerror(errno));
    CLEANUP(buf_releasep) struct buf b = BUF(FILE_MAX);
    buf_add_c(&b, "# Profiles of falaj; tokens are secrets.\n");
    if (f->current)
        buf_printf(&b, "current = %s\n", f->current);
    for (size_t i = 0; i < f->count; i++) {
        const struct profile *p = &f->profiles[i];
        buf_printf(&b, "\n[%s]\n", p->name);
        if (p->url)
            buf_printf(&b, "url = %s\n", p->url);
        if (p->token)
            buf_printf(&b, "token = %s\n", p->token);
        if (p->ca_cert)
            buf_printf(&b, "ca_cert = %s\n", p->ca_cert);
    }
    bool is_good = !b.overflow && write(fd, b.ptr, b.len) == (ssize_t)b.len && fchmod(fd, 0600) == 0 && fsync(fd) == 0;
    if (!is_good || rename(fresh, f->path) < 0) {
        int why = errno;
        unlink(fresh);
        return FAIL(e, IO, "%s cannot be written: %s", f->path, strerror(why));
    }
    return ERR_OK;
}

enum errc profile_put(struct profile_file *f, const char *name, const char *url, const char *token, struct err *e)
{
    if (!name_is_good(name))
        return FAIL(e, INVALID, "a profile's name is made of letters, digits, '.', '_' and '-'");
    struct profile *p = profile_find(f, name);
    if (!p) {
        if (f->count == PROFILES_MAX)
            return FAIL(e, LIMIT, "%s holds %d profiles already", f->path, PROFILES_MAX);
        p = &f->profiles[f->count++];
        *p = (struct profile){ .name = name };
    }
    p->url = url ? url : p->url;
    p->token = token ? token : p->token;
    return ERR_OK;
}

void profile_drop(struct profile_file *f, const char *name)
{
    struct profile *p = profile_find(f, name);
    if (!p)
        return;
    bool was_current = f->current && strcmp(f->current, name) == 0;
    size_t i = (size_t)(p - f->profiles);
    memmove(p, p + 1, (f->count - i - 1) * sizeof(*p));
    f->count--;
    if (was_current)
        f->current = f->count ? f->profiles[0].name : NULL;
}

enum errc profile_resolve(struct arena *a, const char *name, const char *url, const char *ca_cert, struct profile *ret,
                          struct err *e)
{
    struct profile_file *f = ARENA_NEW(a, struct profile_file);
    TRY(profile_file_load(a, f, e));
    const char *env_name = getenv("FALAJ_PROFILE"), *env_url = getenv("FALAJ_URL"), *env_token = getenv("FALAJ_TOKEN");
    const char *env_ca = getenv("FALAJ_CACERT");
    bool is_asked = name || (env_name && *env_name);
    const char *wanted = name ? name : is_asked ? env_name : f->current;
    struct profile *p = profile_find(f, wanted);
    if (is_asked && !p)
        return FAIL(e, INVALID, "%s has no profile '%s'", f->path, wanted);
    struct profile r = { .name = p ? p->name : "", .url = PROFILE_URL_DEFAULT, .url_from = "default", .token_from = "nowhere" };
    const char *from = p ? arena_printf(a, "profile %s", p->name) : NULL;
    if (p && p->url)
        r.url = p->url, r.url_from = from;
    if (p && p->token)
        r.token = p->token, r.token_from = from;
    if (env_url && *env_url)
        r.url = env_url, r.url_from = "environment";
    if (env_token && *env_token)
        r.token = env_token, r.token_from = "environment";
    if (url)
        r.url = url, r.url_from = "flag";
    r.ca_cert = ca_cert ? ca_cert : env_ca && *env_ca ? env_ca : p ? p->ca_cert : NULL;
    bool is_elsewhere = p && p->url && strcmp(p->url, r.url) != 0;
    if (is_elsewhere && r.token && r.token == p->token)     /* a profile's token goes to that profile's URL and nowhere else */
        r.token = NULL, r.token_from = "nowhere (the profile's token is for another URL)";
    *ret = r;
    return ERR_OK;
}
