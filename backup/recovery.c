/* SPDX-License-Identifier: Apache-2.0 */
/* recovery.c - the recovery file and the signing file. */
#include "backup/recovery.h"
#include <unistd.h>
#include "core/base/cleanup.h"

enum { FILE_BYTES = 4096 };

void recovery_wipe(struct recovery *r)
{
    secret_wipe(r, sizeof *r);
}

static bool take(struct str line, struct recovery *r, int *have)
{
    struct str word, value;
    if (!line.len || *line.ptr == '#')
        return true;
    str_cut(line, ' ', &word, &value);
    bool is_secret = str_eq_c(word, "recovery");
    *have |= is_secret ? 1 : 2;
    return (is_secret || str_eq_c(word, "signer")) && hex_decode(value, is_secret ? r->secret.b : r->signer, KEY_BYTES);
}

enum errc recovery_read(const char *path, struct recovery *ret, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
    struct str text, line;
    int have = 0;
    TRY(file_get(a, path, FILE_BYTES, &text, e));
    struct str rest = text;
    bool is_good = true, more = true;
    while (is_good && more) {
        more = str_cut(rest, '\n', &line, &rest);
        is_good = take(str_trim(line), ret, &have);
    }
    secret_wipe((char *)text.ptr, text.len);
    return is_good && have == 3 ? ERR_OK : FAIL(e, INVALID, "%s is no recovery file as falaj-backup init writes it", path);
}

enum errc signing_read(const char *path, struct secret32 *ret, struct err *e)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
    struct str text;
    if (!*path)
        return FAIL(e, INVALID, "backup.sign_key names no file; falaj-backup init makes it");
    TRY(file_get(a, path, FILE_BYTES, &text, e));
    struct str hex = text.len && text.ptr[text.len - 1] == '\n' ? str_n(text.ptr, text.len - 1) : text;
    bool is_good = hex_decode(hex, ret->b, KEY_BYTES);
    secret_wipe((char *)text.ptr, text.len);
    return is_good ? ERR_OK : FAIL(e, INVALID, "%s is no signing key as falaj-backup init writes it", path);
}

static enum errc write_files(const char *recovery_path, const char *signing_path, const struct secret32 *secret,
                             const struct secret32 *seed, const uint8_t signer[ED25519_PUBLIC], struct err *e)
{
    CLEANUP(buf_releasep) struct buf b = BUF(FILE_BYTES);
    buf_add_c(&b, "# Recovery key of Falaj's backups. Whoever has it reads every backup; without it nobody does.\n"
                  "# Keep it away from the servers, twice, and try it: falaj-backup drill --recovery-key FILE\nrecovery ");
    buf_add_hex(&b, secret->b, KEY_BYTES);
    buf_add_c(&b, "\nsigner ");
    buf_add_hex(&b, signer, ED25519_PUBLIC);
    buf_add_char(&b, '\n');
    enum errc rc = file_put(recovery_path, buf_str(&b), e);
    secret_wipe(b.ptr, b.len);
    if (rc != ERR_OK)
        return rc;
    buf_clear(&b);
    buf_add_hex(&b, seed->b, KEY_BYTES);
    buf_add_char(&b, '\n');
    rc = file_put(signing_path, buf_str(&b), e);
    secret_wipe(b.ptr, b.len);
    return rc;
}

enum errc recovery_make(const char *recovery_path, const char *signing_path, uint8_t ret_recovery[X25519_BYTES],
                        uint8_t ret_signer[ED25519_PUBLIC], struct err *e)
{
    struct secret32 secret CLEANUP(secret32_wipe) = { 0 }, seed CLEANUP(secret32_wipe) = { 0 };
    TRY(x25519_keygen(&secret, ret_recovery, e));
    TRY(ed25519_keygen(&seed, ret_signer, e));
    return write_files(recovery_path, signing_path, &secret, &seed, ret_signer, e);
}
