/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - falaj-keyd: the one process of a zone that holds its keys.
 *
 *     falaj-keyd --zone Z --socket PATH STORE [--init] [--rotate-root] [--mechanism auto|gcm|kwp] [--tenant-root T=MODULE,LABEL,PINFILE]…
 *                [--profile dev|prod] [--allow-uid N|NAME]… [--ops-port N] [--log json|logfmt]
 *     falaj-keyd --init-token --zone Z --module PATH --token-label L [--pin-file F] [--so-pin-file F]
 *
 * STORE is --softfile FILE or --module PATH --token-label L [--pin-file F]. It is ready when the socket appears, even when the token is
 * not: it is sealed then and says why. SIGTERM ends it, SIGUSR1 seals, SIGHUP unseals. Nothing secret comes by argument. */
#include <getopt.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "core/base/log.h"
#include "core/http/ops.h"
#include "core/table/metrics.h"
#include "keys/server.h"
#include "keys/token_setup.h"

enum { SECMEM_BYTES = 4 << 20 };

struct arguments {
    struct keyd_options o;
    bool is_prod, is_init_token;
    int64_t ops_port;
    const char *so_pin_file;
    enum log_format format;
};

static void usage(FILE *to)
{
    fputs("usage: falaj-keyd --zone ZONE --socket PATH --softfile FILE [OPTION]...\n"
          "       falaj-keyd --zone ZONE --socket PATH --module PATH --token-label LABEL [--pin-file FILE] [OPTION]...\n"
          "       falaj-keyd --init-token --zone ZONE --module PATH --token-label LABEL [--pin-file FILE] [--so-pin-file FILE]\n"
          "  --module       a PKCS#11 module; the PIN is in a 0600 file, or the systemd credential falaj-pin\n"
          "  --mechanism    auto|gcm|kwp: how new keys are wrapped (auto: AES-GCM where the token can)\n"
          "  --tenant-root TENANT=MODULE,LABEL,PINFILE   this tenant's root is in a token of its own\n"
          "  --init         make the keys of the zone that do not exist yet\n"
          "  --rotate-root  add a root key version, which new wraps use\n"
          "  --init-token   make the keys of the zone in the token, print what there is, and end; with --so-pin-file a token\n"
          "                 that is blank is initialised first. One that is in use is never initialised again\n"
          "  --profile      dev|prod; prod refuses --softfile and memory that cannot be locked\n"
          "  --allow-uid    another user that may call, by number or name (its own user always may)\n"
          "  --ops-port     port of /healthz, /readyz and /metrics on 127.0.0.1; 0: none; without it 9467 in prod, none in dev\n"
          "  --log          json|logfmt\n",
          to);
}

static bool add_uid(struct arguments *a, const char *text)
{
    const struct passwd *user = getpwnam(text);
    int64_t uid = user ? (int64_t)user->pw_uid : -1;
    if (a->o.n_allow_uids == KEYD_UIDS_MAX || (!user && !str_to_i64(str_c(text), 0, UINT32_MAX - 1, &uid)))
        return false;
    a->o.allow_uids[a->o.n_allow_uids++] = (uid_t)uid;
    return true;
}

/* TENANT=MODULE,LABEL,PINFILE, cut in place. */
static bool add_tenant_root(struct arguments *a, char *text)
{
    if (a->o.n_tenant_roots == KEYD_TENANT_ROOTS_MAX)
        return false;
    struct keyd_tenant_root *r = &a->o.tenant_roots[a->o.n_tenant_roots++];
    char *module = strchr(text, '=');
    char *label = module ? strchr(module + 1, ',') : NULL;
    char *pin_file = label ? strchr(label + 1, ',') : NULL;
    if (!pin_file)
        return false;
    *module++ = *label++ = *pin_file++ = '\0';
    r->provider = &provider_pkcs11;
    r->config = (struct provider_config){ .path = module, .token_label = label, .pin_file = pin_file, .is_root_only = true };
    return id_parse("tnt", str_c(text), &r->tenant) && !uuid_is_nil(r->tenant) && *module && *label && *pin_file;
}

static bool mechanism_read(const char *value, enum wrap_choice *ret)
{
    static const char *const names[] = { [WRAP_AUTO] = "auto", [WRAP_GCM] = "gcm", [WRAP_KWP] = "kwp" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(value, names[i]) == 0) {
            *ret = (enum wrap_choice)i;
            return true;
        }
    }
    return false;
}

static bool one_option(struct arguments *a, int option, char *value)
{
    struct provider_config *c = &a->o.provider_config;
    switch (option) {
    case 'z': c->zone = str_c(value); return true;
    case 's': a->o.socket_path = value; return true;
    case 'f': c->path = value; a->o.provider = provider_by_name("softfile"); return true;
    case 'm': c->path = value; a->o.provider = &provider_pkcs11; return true;
    case 't': c->token_label = value; return true;
    case 'P': c->pin_file = value; return true;
    case 'S': a->so_pin_file = value; return true;
    case 'I': a->is_init_token = true; return true;
    case 'w': return mechanism_read(value, &c->mechanism);
    case 'T': return add_tenant_root(a, value);
    case 'i': c->is_init = true; return true;
    case 'r': c->is_rotate = true; return true;
    case 'p': a->is_prod = strcmp(value, "prod") == 0; return a->is_prod || strcmp(value, "dev") == 0;
    case 'l': a->format = strcmp(value, "json") == 0 ? LOGJSON : LOGFMT;
              return a->format == LOGJSON || strcmp(value, "logfmt") == 0;
    case 'o': return str_to_i64(str_c(value), 0, 65535, &a->ops_port);
    case 'u': return add_uid(a, value);
    default: return false;
    }
}

static bool arguments_read(int argc, char **argv, struct arguments *a)
{
    static const struct option options[] = {
        { "zone", required_argument, NULL, 'z' },     { "socket", required_argument, NULL, 's' },
        { "softfile", required_argument, NULL, 'f' }, { "init", no_argument, NULL, 'i' },
        { "rotate-root", no_argument, NULL, 'r' },    { "profile", required_argument, NULL, 'p' },
        { "allow-uid", required_argument, NULL, 'u' }, { "log", required_argument, NULL, 'l' },
        { "module", required_argument, NULL, 'm' },   { "token-label", required_argument, NULL, 't' },
        { "pin-file", required_argument, NULL, 'P' }, { "so-pin-file", required_argument, NULL, 'S' },
        { "init-token", no_argument, NULL, 'I' },     { "mechanism", required_argument, NULL, 'w' },
        { "tenant-root", required_argument, NULL, 'T' }, { "ops-port", required_argument, NULL, 'o' },
        { "help", no_argument, NULL, 'h' },           { 0 },
    };
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'h') {
            usage(stdout);
            exit(EXIT_SUCCESS);
        }
        if (!one_option(a, option, optarg))
            return false;
    }
    for (size_t i = 0; i < a->o.n_tenant_roots; i++) {
        a->o.tenant_roots[i].config.zone = a->o.provider_config.zone;
        a->o.tenant_roots[i].config.mechanism = a->o.provider_config.mechanism;
        a->o.tenant_roots[i].config.is_init = a->o.provider_config.is_init;
    }
    if (optind != argc || a->o.provider_config.zone.len == 0 || !a->o.provider)
        return false;
    return a->is_init_token ? a->o.provider == &provider_pkcs11 && a->o.provider_config.token_label : a->o.socket_path != NULL;
}

static bool ops_ready(void *ctx, struct buf *why)
{
    bool is_sealed = keyd_is_sealed(ctx);
    buf_add_c(why, is_sealed ? "sealed\n" : "");
    return !is_sealed;
}

static void ops_metrics(void *ctx, struct buf *out)
{
    metrics_set(M_keyd_sealed, keyd_is_sealed(ctx));
    metrics_print(out, "falaj-keyd");
}

static enum errc ops_begin(const struct arguments *a, struct keyd *k, struct ops_server **ret, struct err *e)
{
    const struct ops_place at = { "127.0.0.1", a->ops_port, OPS_PORT_KEYD, a->is_prod };
    return ops_open(&at, (struct ops_source){ ops_ready, ops_metrics, k }, ret, e);
}

static enum errc run(const struct arguments *a, struct err *e)
{
    struct keyd *k = NULL;
    struct ops_server *ops = NULL;
    TRY(process_harden(e));
    if (a->is_prod && !a->o.provider->is_for_production)
        return FAIL(e, FORBIDDEN, "the %s key store is for development; the prod profile refuses it", a->o.provider->name);
    TRY(secmem_init(SECMEM_BYTES, a->is_prod, e));
    if (a->is_init_token)
        return token_setup(&a->o.provider_config, a->so_pin_file, stdout, e);
    TRY(keyd_new(&a->o, &k, e));
    enum errc rc = ops_begin(a, k, &ops, e);
    if (rc == ERR_OK)
        rc = keyd_serve(k, e);
    ops_server_free(ops);
    keyd_free(k);
    return rc;
}

int main(int argc, char **argv)
{
    struct arguments a = { .format = LOGJSON, .ops_port = -1 };
    struct err e;
    if (!arguments_read(argc, argv, &a)) {
        usage(stderr);
        return 2;
    }
    log_setup("falaj-keyd", LOG_INFO, a.format, STDERR_FILENO);
    if (run(&a, &e) != ERR_OK) {
        log_err(LOG_ERROR, "keyd.failed", &e);
        return EXIT_FAILURE;
    }
    (void)secmem_done();        /* OpenSSL keeps its own random state there until exit */
    return EXIT_SUCCESS;
}
