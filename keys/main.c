/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - falaj-keyd: the one process of a zone that holds its keys.
 *
 *     falaj-keyd --zone ae-dxb-1 --socket /run/falaj/keyd.sock --softfile /var/lib/falaj/root.key [--init] [--rotate-root]
 *                [--profile dev|prod] [--allow-uid N]… [--log json|logfmt]
 *
 * It is ready when the socket appears. SIGTERM ends it, SIGUSR1 seals, SIGHUP unseals. Nothing secret comes by argument. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "core/base/log.h"
#include "keys/server.h"

enum { SECMEM_BYTES = 4 << 20 };

struct arguments {
    struct keyd_options o;
    bool is_prod;
    enum log_format format;
};

static void usage(FILE *to)
{
    fputs("usage: falaj-keyd --zone ZONE --socket PATH --softfile FILE [--init] [--rotate-root]\n"
          "                  [--profile dev|prod] [--allow-uid N]... [--log json|logfmt]\n"
          "  --init         make the root key if the file does not exist\n"
          "  --rotate-root  add a root key version, which new wraps use\n"
          "  --allow-uid    another user that may call (its own user always may)\n", to);
}

static bool add_uid(struct arguments *a, const char *text)
{
    int64_t uid;
    if (a->o.n_allow_uids == KEYD_UIDS_MAX || !str_to_i64(str_c(text), 0, UINT32_MAX - 1, &uid))
        return false;
    a->o.allow_uids[a->o.n_allow_uids++] = (uid_t)uid;
    return true;
}

static bool one_option(struct arguments *a, int option, const char *value)
{
    struct provider_config *c = &a->o.provider_config;
    switch (option) {
    case 'z': c->zone = str_c(value); return true;
    case 's': a->o.socket_path = value; return true;
    case 'f': c->path = value; a->o.provider = provider_by_name("softfile"); return true;
    case 'i': c->is_init = true; return true;
    case 'r': c->is_rotate = true; return true;
    case 'p': a->is_prod = strcmp(value, "prod") == 0; return a->is_prod || strcmp(value, "dev") == 0;
    case 'l': a->format = strcmp(value, "json") == 0 ? LOGJSON : LOGFMT;
              return a->format == LOGJSON || strcmp(value, "logfmt") == 0;
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
    return optind == argc && a->o.provider_config.zone.len > 0 && a->o.socket_path && a->o.provider;
}

static enum errc run(const struct arguments *a, struct err *e)
{
    struct keyd *k = NULL;
    TRY(process_harden(e));
    if (a->is_prod && !a->o.provider->is_for_production)
        return FAIL(e, FORBIDDEN, "the %s key store is for development; the prod profile refuses it", a->o.provider->name);
    TRY(secmem_init(SECMEM_BYTES, a->is_prod, e));
    TRY(keyd_new(&a->o, &k, e));
    enum errc rc = keyd_serve(k, e);
    keyd_free(k);
    return rc;
}

int main(int argc, char **argv)
{
    struct arguments a = { .format = LOGJSON };
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
