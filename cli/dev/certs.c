/* SPDX-License-Identifier: Apache-2.0 */
/* certs.c - the certificates of `falaj dev`: one authority per zone, made once; a leaf for falaj-api and one for each worker,
 * made anew at every start, so that none is ever old. Identities are URI SANs: spiffe://ZONE/api, spiffe://ZONE/worker/default/NAME. */
#include <unistd.h>
#include "cli/dev/dev.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/crypto/x509.h"

#define CA_LIFETIME_S (INT64_C(3650) * 86400)
#define LEAF_LIFETIME_S (INT64_C(365) * 86400)

static enum errc load_or_make_ca(struct dev *d, const char *zone, int64_t now_us, struct x509_pair *ret, struct err *e)
{
    const char *cert = arena_printf(d->arena, "%s/ca-%s.pem", d->tls, zone), *key = arena_printf(d->arena, "%s/ca-%s.key", d->secrets, zone);
    if (access(cert, F_OK) == 0 && access(key, F_OK) == 0) {
        TRY(files_read(d->arena, cert, &ret->cert_pem, e));
        TRY(files_read(d->arena, key, &ret->key_pem, e));
        /* PEM readers want the last line ended. */
        ret->cert_pem = str_fmt(d->arena, "%s\n", ret->cert_pem.ptr);
        ret->key_pem = str_fmt(d->arena, "%s\n", ret->key_pem.ptr);
        return ERR_OK;
    }
    TRY(x509_make_ca(d->arena, str_fmt(d->arena, "Falaj zone %s", zone), str_fmt(d->arena, "spiffe://%s", zone), now_us, CA_LIFETIME_S,
                     ret, e));
    TRY(files_write(d, key, ret->key_pem, geteuid(), getegid(), e));
    return files_write(d, cert, ret->cert_pem, d->server_uid, d->server_gid, e);
}

static enum errc issue(struct dev *d, const struct x509_pair *ca, const struct x509_req *req, const char *name, int64_t now_us, struct err *e)
{
    struct x509_pair leaf;
    TRY(x509_issue(d->arena, ca, req, now_us, &leaf, e));
    TRY(files_write(d, arena_printf(d->arena, "%s/%s.pem", d->tls, name), leaf.cert_pem, d->server_uid, d->server_gid, e));
    return files_write(d, arena_printf(d->arena, "%s/%s.key", d->tls, name), leaf.key_pem, d->server_uid, d->server_gid, e);
}

enum errc certs_make(struct dev *d, struct err *e)
{
    static const char *const dns[] = { "localhost", NULL }, *const ip[] = { "127.0.0.1", NULL };
    CLEANUP(buf_releasep) struct buf all = BUF(1 << 20);
    int64_t now_us = clock_wall_us(&clock_system);
    for (int i = 0; i < d->nzones; i++) {
        const char *zone = d->zones[i];
        struct x509_pair ca;
        TRY(load_or_make_ca(d, zone, now_us, &ca, e));
        buf_add_str(&all, ca.cert_pem);
        struct x509_req api = { .common_name = STR("falaj-api"), .uri_san = str_fmt(d->arena, "spiffe://%s/api", zone), .dns = dns, .ip = ip,
                                .is_client = true, .is_server = true, .lifetime_s = LEAF_LIFETIME_S };
        struct x509_req worker = { .common_name = STR("dev-1"), .uri_san = str_fmt(d->arena, "spiffe://%s/worker/default/dev-1", zone), .ip = ip,
                                   .is_client = true, .is_server = true, .lifetime_s = LEAF_LIFETIME_S };
        if (i == 0)
            TRY(issue(d, &ca, &api, "api", now_us, e));
        TRY(issue(d, &ca, &worker, dev_name_of(d, "worker", i), now_us, e));
    }
    return files_write(d, arena_printf(d->arena, "%s/workers-ca.pem", d->tls), buf_str(&all), d->server_uid, d->server_gid, e);
}
