/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_account.c - login, logout, config view, status, version: who talks to what. */
#include <stdlib.h>
#include <unistd.h>
#include "cli/client.h"
#include "cli/device.h"
#include "cli/output.h"
#include "core/base/cleanup.h"
#include "core/crypto/token.h"

static const char *masked(struct arena *a, const char *token)
{
    size_t n = token ? strlen(token) : 0;
    return n > 12 ? arena_printf(a, "flj_***%s", token + n - 4) : n ? "***" : "-";
}

static int read_token(struct cli *c, const char **ret)
{
    struct err e = { 0 };
    struct str text;
    if (!cli_has(c, "with-token"))
        return device_login(c, ret);
    if (isatty(STDIN_FILENO))
        cli_note(c, "Paste the token, then Enter and Ctrl-D:");
    if (cli_read_file(c->arena, "-", 4096, &text, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    while (text.len && strchr(" \t\r\n", text.ptr[text.len - 1]))
        text.len--;
    text = str_trim(text);
    if (!token_check(text, NULL))
        return cli_fail(c, CLI_USAGE, "a token starts with flj_; copy all of it", "that is not an API token");
    *ret = str_z(c->arena, text);
    return CLI_OK;
}

int cmd_login(struct cli *c)
{
    struct err e = { 0 };
    const char *token;
    int rc = read_token(c, &token);
    if (rc != CLI_OK)
        return rc;
    c->profile.token = token;
    struct api_reply me;
    rc = api_get(c, "/v1/me", &me);
    if (rc != CLI_OK)
        return rc;
    struct profile_file *f = ARENA_NEW(c->arena, struct profile_file);
    const char *asked = cli_flag(c, "name") ? cli_flag(c, "name") : cli_flag(c, "profile");
    const char *name = asked ? asked : c->profile.name[0] ? c->profile.name : "default";
    if (profile_file_load(c->arena, f, &e) != ERR_OK || profile_put(f, name, c->profile.url, token, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    f->current = name;
    struct profile *p = profile_find(f, name);
    if (c->profile.ca_cert) {
        char *whole = realpath(c->profile.ca_cert, NULL);
        p->ca_cert = whole ? arena_strndup(c->arena, whole, strlen(whole)) : c->profile.ca_cert;
        free(whole);
    }
    if (profile_file_save(c->arena, f, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    struct str tenant = jval_str(jval_get(me.json, "tenant")), user = jval_str(jval_get(me.json, "name"));
    cli_note(c, "Logged in to %s as %.*s of %.*s; profile '%s' in %s.", c->profile.url, STR_ARG(user), STR_ARG(tenant), name, f->path);
    return CLI_OK;
}

/* As far as it goes: what cannot be revoked now is told, and forgotten all the same. */
static void revoke_token(struct cli *c)
{
    struct api_reply me, gone;
    if (api_get(c, "/v1/me", &me) != CLI_OK)
        return;
    struct str id = jval_str(jval_get(me.json, "token_id"));
    struct api_req q = { .method = "DELETE", .path = arena_printf(c->arena, "/v1/api-tokens/%.*s", STR_ARG(id)) };
    if (id.len && api_do(c, &q, &gone) == CLI_OK)
        cli_note(c, "The token is revoked.");
}

int cmd_logout(struct cli *c)
{
    struct err e = { 0 };
    struct profile_file *f = ARENA_NEW(c->arena, struct profile_file);
    if (profile_file_load(c->arena, f, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    const char *name = c->profile.name[0] ? c->profile.name : f->current;
    if (cli_has(c, "revoke"))
        revoke_token(c);
    if (!profile_find(f, name))
        return cli_fail(c, CLI_LOGIN, "'falaj config view' shows the profiles", "there is no profile to forget");
    name = arena_strndup(c->arena, name, strlen(name));
    profile_drop(f, name);
    if (profile_file_save(c->arena, f, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    if (cli_has(c, "revoke"))
        cli_note(c, "Profile '%s' is forgotten.", name);
    else
        cli_note(c, "Profile '%s' is forgotten. The token itself stays good until it expires or is revoked (falaj token revoke).", name);
    return CLI_OK;
}

int cmd_profile_use(struct cli *c)
{
    struct err e = { 0 };
    struct profile_file *f = ARENA_NEW(c->arena, struct profile_file);
    if (profile_file_load(c->arena, f, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    struct profile *p = profile_find(f, c->args[0]);
    if (!p)
        return cli_fail(c, CLI_NOT_FOUND, "'falaj profile list' shows those there are; 'falaj login --name NAME' makes one",
            "%s has no profile '%.64s'",
                        f->path, c->args[0]);
    f->current = p->name;
    if (profile_file_save(c->arena, f, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    cli_note(c, "Profile '%s' (%s) from now on.", p->name, p->url ? p->url : PROFILE_URL_DEFAULT);
    const char *stronger = getenv("FALAJ_PROFILE");
    if (stronger && *stronger && strcmp(stronger, p->name) != 0)
        cli_note(c, "FALAJ_PROFILE=%s is stronger, as long as it is set.", stronger);
    return CLI_OK;
}

/* Profiles as a JSON document, so that every output form works. */
int cmd_config_view(struct cli *c)
{
    struct err e = { 0 };
    struct profile_file *f = ARENA_NEW(c->arena, struct profile_file);
    if (profile_file_load(c->arena, f, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 20);
    buf_add_c(&b, "{\"file\":");
    buf_add_json(&b, str_c(f->path));
    buf_add_c(&b, ",\"url\":");
    buf_add_json(&b, str_c(c->profile.url));
    buf_printf(&b, ",\"url_from\":\"%s\",\"token_from\":\"%s\",\"data\":[", c->profile.url_from, c->profile.token_from);
    for (size_t i = 0; i < f->count; i++) {
        const struct profile *p = &f->profiles[i];
        buf_printf(&b, "%s{\"name\":\"%s\",\"current\":%s,\"url\":", i ? "," : "", p->name, f->current && strcmp(p->name, f->current) == 0 ? "true" : "false");
        buf_add_json(&b, str_c(p->url ? p->url : ""));
        buf_add_c(&b, ",\"token\":");
        buf_add_json(&b, str_c(masked(c->arena, p->token)));
        buf_add_char(&b, '}');
    }
    buf_add_c(&b, "]}");
    const struct jval *v;
    struct str text = str_dup(c->arena, buf_str(&b));
    if (jval_parse(c->arena, text, 0, &v, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    if (c->format == OUT_JSON) {
        fprintf(c->out, "%.*s\n", STR_ARG(text));
        return CLI_OK;
    }
    cli_note(c, "%s; API %s (%s), token from %s", f->path, c->profile.url, c->profile.url_from, c->profile.token_from);
    struct output o;
    output_begin(&o, c, "name:NAME current:CURRENT url:URL token:TOKEN");
    output_page(&o, jval_get(v, "data"));
    output_end(&o);
    return CLI_OK;
}

int cmd_status(struct cli *c)
{
    struct api_reply ready, me = { 0 };
    struct err e = { 0 };
    struct api_req q = { .method = "GET", .path = "/readyz" };
    if (api_send(c, &q, &ready, &e) != ERR_OK)
        return cli_fail_err(c, &e, arena_printf(c->arena, "the API was sought at %s (%s)", c->profile.url, c->profile.url_from));
    int who = CLI_LOGIN;
    if (c->profile.token) {
        q.path = "/v1/me";
        who = api_send(c, &q, &me, &e) == ERR_OK ? api_exit_of(&me) : CLI_NETWORK;
    }
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 16);
    buf_add_c(&b, "{\"url\":");
    buf_add_json(&b, str_c(c->profile.url));
    buf_printf(&b, ",\"ready\":%s,\"logged_in\":%s", ready.status == 200 ? "true" : "false", who == CLI_OK ? "true" : "false");
    static const char *const members[] = { "name", "tenant", "roles", "home_zone", "expires_at", NULL };
    for (int i = 0; who == CLI_OK && members[i]; i++) {
        buf_printf(&b, ",\"%s\":", members[i]);
        if (!jval_get(me.json, members[i]))
            buf_add_c(&b, "null");
        else
            jval_encode(jval_get(me.json, members[i]), false, &b);
    }
    buf_add_char(&b, '}');
    const struct jval *v;
    struct str text = str_dup(c->arena, buf_str(&b));
    if (jval_parse(c->arena, text, 0, &v, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    output_object(c, v, text, "url:URL ready:READY");
    if (ready.status != 200)
        return cli_fail(c, CLI_NETWORK, "'falaj doctor' looks closer", "the API runs but is not ready");
    return CLI_OK;
}

int cmd_version(struct cli *c)
{
    if (c->format == OUT_JSON)
        fprintf(c->out, "{\"name\":\"falaj\",\"version\":\"%s\"}\n", FALAJ_VERSION);
    else
        fprintf(c->out, "falaj %s\n", FALAJ_VERSION);
    return CLI_OK;
}
