/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_p11.c - a PKCS#11 module that lies where the input says so, under the whole provider: nothing is read or written past its end,
 * a key that was wrapped opens as itself or not at all, and an honest module in the end finds a store that works. */
/* USES: core_base core_crypto core_wire keys keyd_server */
#include <stdio.h>
#include <unistd.h>
#include "core/base/log.h"
#include "keys/provider.h"
#include "p11_fake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char pin_file[64];

static void remove_pin(void)
{
    unlink(pin_file);
}

static void start(void)
{
    snprintf(pin_file, sizeof pin_file, "/tmp/falaj-fuzz-pin-XXXXXX");
    int fd = mkstemp(pin_file);
    if (fd < 0 || write(fd, "1234", 4) != 4 || secmem_init(1 << 20, false, NULL) != ERR_OK)
        abort();
    close(fd);
    atexit(remove_pin);
    log_setup("fuzz", LOG_ERROR + 1, LOGFMT, STDERR_FILENO);
}

static void wrap_and_open(void *p, const struct key_object *o, bool is_honest)
{
    const struct key_provider *f = &provider_pkcs11;
    const struct secret32 key = { { 1, 2, 3 } };
    const struct blob_head head = { .version = 1 };
    struct secret32 out = { { 0 } };
    struct key_blob blob;
    struct aad aad;
    aad_init(&aad, "fuzz");
    enum errc rc = o ? f->object_wrap(p, o, head, &aad, &key, &blob, NULL) : f->wrap(p, head, &aad, &key, &blob, NULL);
    if (rc == ERR_OK)
        rc = o ? f->object_unwrap(p, o, head, &aad, &blob, &out, NULL) : f->unwrap(p, head, &aad, &blob, &out, NULL);
    if (is_honest && rc != ERR_OK)
        abort();
}

static void use_all(void *p, bool is_honest)
{
    const struct key_provider *f = &provider_pkcs11;
    struct key_object o = { .label = "falaj-tkek-fuzz" };
    struct root_info info;
    static struct attest a;
    uint8_t b[100], point[P256_POINT], sealed[IMPORT_SEALED] = { 0 };
    struct secret32 out;
    struct aad aad;
    uint32_t version = 0;
    bool was_there;
    import_aad(STR("ae-dxb-1"), (struct uuid){ { 1 } }, &aad);
    wrap_and_open(p, NULL, is_honest);
    (void)!f->sign(p, "head", 4, b, NULL);
    (void)!f->ca_sign(p, b, b, NULL);
    (void)!f->random(p, b, sizeof b, NULL);
    if (f->import_public(p, point, NULL) == ERR_OK)
        (void)!f->import_open(p, point, sealed, &aad, &out, NULL);
    if (f->root_new(p, &version, NULL) == ERR_OK)
        (void)!f->root_destroy(p, version - 1, &was_there, NULL);
    if (f->object_new(p, &o, NULL) == ERR_OK)
        wrap_and_open(p, &o, false);
    (void)!f->object_destroy(p, o.label, &was_there, NULL);
    (void)!f->root_info(p, &info, NULL);
    (void)!f->attest(p, &a, NULL);
    (void)!f->health(p, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void *p = NULL;
    if (!pin_file[0])
        start();
    if (size == 0)
        return 0;
    struct provider_config c = { .zone = STR("ae-dxb-1"), .path = "fake", .token_label = "fake", .pin_file = pin_file, .is_init = true,
                                 .functions = &fake_list, .mechanism = (enum wrap_choice)(data[0] % 3) };
    size_t late = data[0] & 128 ? 0 : size - 1;         /* lies from the start, or only after an honest start */
    fake_reset(data + 1, late);
    if (provider_pkcs11.open(&c, &p, NULL) != ERR_OK)
        abort();
    fake.script = data + 1;
    fake.n = size - 1;
    fake.at = 0;
    use_all(p, size == 1);
    provider_pkcs11.close(p);
    return 0;
}
