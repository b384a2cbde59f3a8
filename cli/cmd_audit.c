/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_audit.c - `falaj audit verify`: an exported bundle checked offline; no network, no database, no profile. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "cli/bundle_check.h"
#include "audit/key_text.h"
#include "cli/output.h"
#include "core/base/cleanup.h"
#include "core/crypto/sign.h"

enum { KEY_FILE_MAX = 1 << 16 };

static ssize_t read_fd(void *ctx, void *p, size_t n)
{
    ssize_t got;
    do
        got = read(*(int *)ctx, p, n);
    while (got < 0 && errno == EINTR);
    return got;
}

enum errc bundle_keys_parse(struct str text, struct bundle_keys *ret, struct err *e)
{
    size_t n = 0;
    ret->count = 0;
    TRY(key_text_parse(text, ret->key, BUNDLE_KEYS_MAX, &n, e));
    ret->count = (int)n;
    return ERR_OK;
}

enum errc bundle_check(const char *path, const struct bundle_keys *keys, const struct verify_opts *with,
        struct verify_result *ret, struct err *e)
{
    bool is_stdin = strcmp(path, "-") == 0;
    CLEANUP(fd_closep) int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return FAIL(e, INVALID, "%s cannot be opened: %s", path, strerror(errno));
    struct verify_opts opts = with ? *with : (struct verify_opts){ 0 };
    if (keys && keys->count) {
        opts.pinned = (const uint8_t (*)[AUDIT_PUB])keys->key;
        opts.pinned_count = keys->count;
    }
    audit_verify(read_fd, &fd, &opts, ret);
    return ERR_OK;
}

static void print_json(struct cli *c, const struct verify_result *r)
{
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 16);
    buf_printf(&b, "{\"ok\":%s,\"damage\":\"%s\",\"entry\":%llu,\"line\":%llu,\"pinned\":%s,\"count\":%llu,\"dropped\":%llu,\"from\":%llu,\"to\":%llu,\"head_size\":%llu,\"zone\":",
               r->damage == VERIFY_OK ? "true" : "false", verify_damage_text(r->damage), (unsigned long long)r->tseq, (unsigned long long)r->line,
               r->pinned ? "true" : "false", (unsigned long long)r->count, (unsigned long long)r->dropped, (unsigned long long)r->from,
               (unsigned long long)r->to, (unsigned long long)r->head.size);
    buf_add_json(&b, str_c(r->head.zone));
    verify_put_members(r, &b);
    buf_add_c(&b, ",\"text\":");
    buf_add_json(&b, str_c(r->text));
    buf_add_char(&b, '}');
    fprintf(c->out, "%.*s\n", STR_ARG(buf_str(&b)));
}

/* The key file and the kept head that the flags name, as far as they are given. */
static enum errc read_trust(struct cli *c, struct bundle_keys *keys, struct verify_opts *opts, struct bundle_head *kept,
        struct err *e)
{
    const char *key_file = cli_flag(c, "key"), *head_file = cli_flag(c, "previous");
    struct str text;
    if (key_file) {
        TRY(cli_read_file(c->arena, key_file, KEY_FILE_MAX, &text, e));
        TRY(bundle_keys_parse(text, keys, e));
    }
    if (!head_file)
        return ERR_OK;
    TRY(cli_read_file(c->arena, head_file, KEY_FILE_MAX, &text, e));
    if (!verify_read_kept(text, kept, &opts->previous_is_unsigned))
        return FAIL(e, INVALID, "%s is no head as --save-head writes it", head_file);
    if (opts->previous_is_unsigned)
        cli_note(c, "Warning: %s has no signature: the log is compared with it, but it proves nothing against anybody.",
                head_file);
    opts->previous = kept;
    return ERR_OK;
}

static int save_head(struct cli *c, const char *path, const struct bundle_head *h)
{
    CLEANUP(buf_releasep) struct buf b = BUF(KEY_FILE_MAX);
    FILE *f = fopen(path, "we");
    bool is_saved = f && bundle_kept_encode(h, &b) && fputs(b.ptr, f) >= 0;
    if (f && fclose(f) != 0)
        is_saved = false;
    return is_saved ? CLI_OK : cli_fail(c, CLI_FAILED, NULL, "%s cannot be written: %s", path, strerror(errno));
}

int cmd_audit_verify(struct cli *c)
{
    struct err e = { 0 };
    struct bundle_keys keys = { 0 };
    struct bundle_head kept;
    struct verify_result r = { 0 };
    struct verify_opts opts = { .trust_embedded = cli_has(c, "trust-embedded-key"), .allow_unproved_drops = cli_has(c,
            "allow-unproved-drops") };
    if (read_trust(c, &keys, &opts, &kept, &e) != ERR_OK || bundle_check(c->args[0], &keys, &opts, &r, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    if (c->format == OUT_JSON)
        print_json(c, &r);
    if (r.damage != VERIFY_OK) {
        const char *entry = r.tseq ? arena_printf(c->arena, "entry %llu: ", (unsigned long long)r.tseq) : "";
        bool has_no_key = !keys.count && !opts.trust_embedded;
        return cli_fail(c, CLI_VERIFY, has_no_key ? "give the zone's key with --key, or --trust-embedded-key to see only "
            "whether the bundle fits itself" :
                        "do not rely on this bundle; export it again and compare", "%s: %s%s: %s", c->args[0], entry,
                        verify_damage_text(r.damage), r.text);
    }
    if (c->format != OUT_JSON) {
        CLEANUP(buf_releasep) struct buf b = BUF(VERIFY_CLAIM_MAX);
        verify_put_claim(&r, &b);
        fprintf(c->out, "%s: entries %llu to %llu are whole and as signed (log of %llu entries, zone %s)\n%s", c->args[0],
                (unsigned long long)r.from,
                (unsigned long long)r.to, (unsigned long long)r.head.size, r.head.zone, b.ptr);
    }
    return cli_has(c, "save-head") ? save_head(c, cli_flag(c, "save-head"), &r.signed_head) : CLI_OK;
}
