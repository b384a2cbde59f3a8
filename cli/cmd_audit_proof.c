/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_audit_proof.c - `falaj audit head-proof`: the way from a tenant's head to the zone's head and to the file that it is
 * anchored in,
 * checked offline as falaj-verify head-proof does; no network, no profile. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "audit/anchor_file.h"
#include "cli/bundle_check.h"
#include "cli/output.h"
#include "core/base/cleanup.h"

enum { SMALL_FILE_MAX = 1 << 16 };

static ssize_t read_fd(void *ctx, void *p, size_t n)
{
    ssize_t got;
    do
        got = read(*(int *)ctx, p, n);
    while (got < 0 && errno == EINTR);
    return got;
}

static int check_anchor(struct cli *c, const struct bundle_head *zone_head, struct head_keys keys)
{
    const char *path = cli_flag(c, "anchor");
    struct anchor_seen seen;
    char text[512];
    if (!path)
        return CLI_OK;
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cli_fail(c, CLI_FAILED, NULL, "%s cannot be opened: %s", path, strerror(errno));
    if (!anchor_verdict(anchor_file_fault(read_fd, &fd, zone_head, keys, &seen), &seen, text, sizeof text))
        return cli_fail(c, CLI_VERIFY, "falaj audit zone-proof asks for a new proof", "%s: %s", path, text);
    fprintf(c->out, "anchored in %s: %s\n", path, text);
    return CLI_OK;
}

int cmd_audit_head_proof(struct cli *c)
{
    struct err e = { 0 };
    struct bundle_keys keys = { 0 };
    struct str key_text, text;
    struct head_proof *p = ARENA_NEW(c->arena, struct head_proof);
    struct audit_head head, zone;
    char tenant[UUID_TEXT];
    if (!cli_has(c, "key"))
        return cli_fail(c, CLI_USAGE, "give the zone's public key with --key", "nothing in a proof is believed without a key");
    if (cli_read_file(c->arena, cli_flag(c, "key"), SMALL_FILE_MAX, &key_text, &e) != ERR_OK ||
        bundle_keys_parse(key_text, &keys, &e) != ERR_OK ||
        cli_read_file(c->arena, c->args[0], SMALL_FILE_MAX, &text, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    if (!head_proof_decode(text, p))
        return cli_fail(c, CLI_VERIFY, "falaj audit zone-proof -o json | jq -c .file > FILE", "%s is no head proof", c->args[0]);
    struct head_keys with = { (const uint8_t (*)[AUDIT_PUB])keys.key, keys.count };
    const char *fault = head_proof_fault(p, with, &head, &zone);
    if (fault)
        return cli_fail(c, CLI_VERIFY, "do not rely on this proof", "%s: %s", c->args[0], fault);
    uuid_text(head.tenant_id, tenant);
    fprintf(c->out, "the head of tenant %s with %llu entries is entry %llu of zone %s, under its head of size %llu%s\n", tenant,
            (unsigned long long)head.size, (unsigned long long)p->tseq, zone.zone, (unsigned long long)zone.size,
            p->has_previous ? ", which extends the earlier one" : "");
    return check_anchor(c, &p->zone_head, with);
}
