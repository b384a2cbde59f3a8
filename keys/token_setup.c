/* SPDX-License-Identifier: Apache-2.0 */
/* token_setup.c - falaj-keyd --init-token. */
#include "keys/token_setup.h"
#include "keys/pkcs11_int.h"

static void print_hex(FILE *out, const char *name, const uint8_t *p, size_t n)
{
    fprintf(out, "%-12s ", name);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%02x", p[i]);
    fputc('\n', out);
}

static void print_attest(FILE *out, const struct attest *a)
{
    fprintf(out, "token        %s (%s %s, serial %s, firmware %s)\n", a->token_label, a->token_manufacturer, a->token_model,
            a->token_serial, a->firmware);
    fprintf(out, "module       %s (%s)\n", a->module, a->library);
    fprintf(out, "mechanism    %s\n", a->mechanism);
    for (uint32_t i = 0; i < a->n_roots && i < ATTEST_ROOTS_MAX; i++)
        fprintf(out, "root key     %s%s%s%s\n", a->roots[i].label, a->roots[i].is_local ? ", made in the token" : "",
                a->roots[i].is_always_sensitive ? ", always sensitive" : "", a->roots[i].is_never_extractable ? ", never extractable" : "");
    if (a->has_signing_key)
        print_hex(out, "signing key", a->signing_key_id, sizeof a->signing_key_id);
    if (a->has_import_key)
        print_hex(out, "import key", a->import_point, sizeof a->import_point);
    else
        fprintf(out, "import key   none: the token cannot make a P-256 pair\n");
}

enum errc token_setup(const struct provider_config *c, const char *so_pin_file, FILE *out, struct err *e)
{
    struct provider_config config = *c;
    struct attest a;
    void *p = NULL;
    enum errc rc = so_pin_file ? p11_token_init(c->path, c->token_label, c->pin_file, so_pin_file, e) : ERR_OK;
    if (rc != ERR_OK && rc != ERR_EXISTS)
        return rc;
    fputs(!so_pin_file ? "" : rc == ERR_OK ? "the token is new\n" : "the token is in use already and was not initialised again\n", out);
    config.is_init = true;
    TRY(provider_pkcs11.open(&config, &p, e));
    rc = provider_pkcs11.attest(p, &a, e);
    provider_pkcs11.close(p);
    TRY(rc);
    if (a.is_sealed)
        return FAIL(e, SEALED, "%s", a.reason);
    print_attest(out, &a);
    return ERR_OK;
}
