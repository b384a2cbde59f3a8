/* SPDX-License-Identifier: Apache-2.0 */
/* hsm.c - `falaj dev --hsm`: the keys of each zone in a SoftHSM token of the data folder instead of a file, to see and to try what a token does.
 *
 * It is the path of production, and protects nothing: SoftHSM keeps its keys in files. Which of the two a data folder has is decided
 * when it is made and seen from what lies in its folder keys. */
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/dev/dev.h"

#define MODULE "/usr/lib/softhsm/libsofthsm2.so"
#define TOKEN "falaj-dev"

static const char *part(const struct dev *d, const char *zone, const char *name)
{
    return arena_printf(d->arena, "%s/softhsm-%s/%s", d->keys, zone, name);
}

static enum errc folder_make(const struct dev *d, const char *path, struct err *e)
{
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return FAIL(e, IO, "%s cannot be made", path);
    if (d->is_root && chown(path, d->server_uid, d->server_gid) < 0)
        return FAIL(e, IO, "%s cannot be given to its account", path);
    return ERR_OK;
}

/* A folder without a token: configuration, PINs, and the token with the zone's keys. */
static enum errc token_make(struct dev *d, const char *zone, struct err *e)
{
    const char *pin, *so_pin, *tokens = part(d, zone, "tokens");
    if (access(MODULE, R_OK) < 0)
        return FAIL(e, INVALID, "SoftHSM 2 is not installed; run deploy/install-deps.sh --run");
    if (access(arena_printf(d->arena, "%s/root-%s.key", d->keys, zone), F_OK) == 0)
        return FAIL(e, CONFLICT, "the keys of %s are in a file; --hsm is for a new data folder", d->data);
    TRY(folder_make(d, arena_printf(d->arena, "%s/softhsm-%s", d->keys, zone), e));
    TRY(folder_make(d, tokens, e));
    TRY(files_secret(d, "hsm-pin", &pin, e));
    TRY(files_secret(d, "hsm-so-pin", &so_pin, e));
    TRY(files_write(d, part(d, zone, "pin"), str_c(pin), d->server_uid, d->server_gid, e));
    TRY(files_write(d, part(d, zone, "so-pin"), str_c(so_pin), d->server_uid, d->server_gid, e));
    TRY(files_write(d, part(d, zone, "conf"), str_fmt(d->arena, "directories.tokendir = %s\nobjectstore.backend = file\nlog.level = ERROR\n", tokens),
                    d->server_uid, d->server_gid, e));
    struct child run = { .name = "token", .log_path = arena_printf(d->arena, "%s/token.log", d->logs), .uid = d->server_uid, .gid = d->server_gid,
                         .stop_signal = SIGTERM, .env = arena_printf(d->arena, "SOFTHSM2_CONF=%s", part(d, zone, "conf")),
                         .argv = { arena_printf(d->arena, "%s/falaj-keyd", d->bin), "--init-token", "--zone", zone, "--module", MODULE,
                                   "--token-label", TOKEN, "--pin-file", part(d, zone, "pin"), "--so-pin-file", part(d, zone, "so-pin"), NULL } };
    return supervise_run_once(d, &run, DEV_START_MS, NULL, e);
}

enum errc hsm_prepare(struct dev *d, int i, struct err *e)
{
    const char *zone = d->zones[i];
    bool has_token = access(part(d, zone, "conf"), F_OK) == 0;
    if (!has_token && !cli_has(d->c, "hsm"))
        return ERR_OK;
    if (!has_token)
        TRY(token_make(d, zone, e));
    struct child *p = &d->children[DEV_KEYD_OF(i)];
    const char *port = arena_printf(d->arena, "%lld", (long long)d->ops_port[DEV_KEYD_OF(i)]);
    const char *const argv[] = { p->argv[0], "--zone", zone, "--socket", p->socket, "--module", MODULE, "--token-label", TOKEN,
                                 "--pin-file", part(d, zone, "pin"), "--log", "logfmt", "--ops-port", port, NULL };
    memset(p->argv, 0, sizeof p->argv);
    memcpy(p->argv, argv, sizeof argv);
    p->env = arena_printf(d->arena, "SOFTHSM2_CONF=%s", part(d, zone, "conf"));
    return ERR_OK;
}
