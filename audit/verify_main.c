/* SPDX-License-Identifier: Apache-2.0 */
/* verify_main.c - falaj-verify: checks an audit bundle; no network, no database, no configuration, not even OpenSSL's.
 *
 * One static file where the libraries allow it (audit/CMakeLists.txt), so that it can be handed to an auditor as it is.
 * Exit codes: 0 the bundle is whole; 1 usage, or a file cannot be read; 2 refused (damaged, forked, wrong key). */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "audit/fork.h"
#include "audit/verify.h"
#include "audit/verify_evidence_int.h"
#include "core/base/cleanup.h"
#include "core/crypto/sign.h"

static const char usage_text[] =
    "Usage: falaj-verify [options] BUNDLE...     (\"-\" is standard input)\n"
    "  --key KEY               a public key that you were given some other way: a file (PEM, or base64 or hex by line), or 64\n"
    "                          hex digits; up to 16 times.\n"
    "                          After a key was rotated, the keys before it too\n"
    "  --trust-embedded-key    without --key: believe the key in the bundle. Shows only that the bundle fits itself\n"
    "  --previous FILE         a head saved earlier: the log must still contain it\n"
    "  --save-head FILE        save the verified head with its signature, for the next time\n"
    "  --allow-unproved-drops  accept entries without body that no retention entry of the log lists\n"
    "  --evidence FILE         with --previous and --key: where the log was forked, write what convicts\n"
    "  --json                  print one line of JSON for each bundle\n"
    "Exit: 0 whole, 1 usage or unreadable file, 2 refused.\n";

struct options {
    struct key_list keys;
    struct bundle_head previous;
    bool has_previous, is_unsigned, allow_unproved, trust_embedded, as_json;
    const char *save_head, *evidence;
    char **bundles;
    int bundle_count;
};

static ssize_t read_fd(void *ctx, void *p, size_t n)
{
    ssize_t got;
    do
        got = read(*(const int *)ctx, p, n);
    while (got < 0 && errno == EINTR);
    return got;
}

static int take_previous(struct options *o, const char *path)
{
    char file[FILE_MAX];
    ssize_t n = read_small(path, file, sizeof file);
    if (n < 0 || !verify_read_kept(str_n(file, (size_t)n), &o->previous, &o->is_unsigned)) {
        fprintf(stderr, "falaj-verify: %s is no head as --save-head writes it\n", path);
        return EXIT_UNUSABLE;
    }
    if (o->is_unsigned)
        fprintf(stderr, "falaj-verify: %s has no signature: the log is compared with it, but it convicts nobody\n", path);
    o->has_previous = true;
    return 0;
}

static int save_head(const char *path, const struct bundle_head *h)
{
    CLEANUP(buf_releasep) struct buf b = BUF(FILE_MAX);
    bundle_kept_encode(h, &b);
    return write_text(path, &b);
}

static void print_json(const struct verify_result *r)
{
    CLEANUP(buf_releasep) struct buf b = BUF(4096);
    char tenant[UUID_TEXT];
    uuid_text(r->head.tenant_id, tenant);
    buf_printf(&b, "{\"result\":\"%s\",\"tseq\":%llu,\"line\":%llu,\"text\":", verify_damage_text(r->damage),
               (unsigned long long)r->tseq, (unsigned long long)r->line);
    buf_add_json(&b, str_c(r->text));
    buf_printf(&b, ",\"pinned\":%s,\"count\":%llu,\"dropped\":%llu,\"from\":%llu,\"to\":%llu,\"head_size\":%llu,\"tenant\":\"%s\"",
               r->pinned ? "true" : "false", (unsigned long long)r->count, (unsigned long long)r->dropped,
               (unsigned long long)r->from, (unsigned long long)r->to, (unsigned long long)r->head.size, tenant);
    verify_put_members(r, &b);
    buf_add_char(&b, '}');
    puts(b.ptr);
}

static void print_text(const struct verify_result *r)
{
    char tenant[UUID_TEXT];
    uuid_text(r->head.tenant_id, tenant);
    if (r->damage != VERIFY_OK) {
        printf("REFUSED: %s", verify_damage_text(r->damage));
        if (r->tseq)
            printf(" at entry %llu", (unsigned long long)r->tseq);
        if (r->line)
            printf(" (line %llu)", (unsigned long long)r->line);
        printf(": %s\n", r->text);
        return;
    }
    printf("OK: tenant %s, entries %llu to %llu (%llu here) of a log of %llu, head signed by %s\n", tenant,
           (unsigned long long)r->from, (unsigned long long)r->to, (unsigned long long)r->count,
           (unsigned long long)r->head.size, r->head.key_id);
    CLEANUP(buf_releasep) struct buf b = BUF(VERIFY_CLAIM_MAX);
    verify_put_claim(r, &b);
    fputs(b.ptr, stdout);
}

static int usage(void)
{
    fprintf(stderr, "%s%s", usage_text, evidence_usage);
    return EXIT_UNUSABLE;
}

static int parse(int argc, char **argv, struct options *o)
{
    static const struct option longs[] = { { "key", required_argument, NULL, 'k' }, { "previous", required_argument, NULL, 'p' },
        { "save-head", required_argument, NULL, 's' }, { "allow-unproved-drops", no_argument, NULL, 'd' },
        { "trust-embedded-key", no_argument, NULL, 't' }, { "evidence", required_argument, NULL, 'e' },
        { "json", no_argument, NULL, 'j' }, { "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'v' }, { 0 } };
    int c, rc = 0;
    while (rc == 0 && (c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        switch (c) {
        case 'k': rc = key_list_add(&o->keys, optarg); break;
        case 'p': rc = take_previous(o, optarg); break;
        case 's': o->save_head = optarg; break;
        case 'd': o->allow_unproved = true; break;
        case 't': o->trust_embedded = true; break;
        case 'e': o->evidence = optarg; break;
        case 'j': o->as_json = true; break;
        case 'h': printf("%s%s", usage_text, evidence_usage); return -1;
        case 'v': puts("falaj-verify " FALAJ_VERSION); return -1;
        default: return usage();
        }
    }
    o->bundles = argv + optind;
    o->bundle_count = argc - optind;
    if (rc == 0 && (o->bundle_count < 1 || (o->save_head && o->bundle_count > 1)))
        return usage();
    return rc;
}

/* The bundle is read once more: what convicts is in it. */
static void write_evidence(const struct options *o, const char *bundle)
{
    CLEANUP(buf_releasep) struct buf b = BUF(EVIDENCE_BYTES_MAX);
    CLEANUP(fd_closep) int fd = strcmp(bundle, "-") == 0 ? -1 : open(bundle, O_RDONLY | O_CLOEXEC);
    struct fork_file f;
    const char *fault = fd < 0 ? "it takes a bundle in a file" :
                        fork_of_bundle(read_fd, &fd, &o->previous, key_list_of(&o->keys), &f);
    if (fault)
        fprintf(stderr, "falaj-verify: no evidence could be made: %s\n", fault);
    else if (fork_file_encode(&f, &b) && write_text(o->evidence, &b) == 0)
        fprintf(stderr, "falaj-verify: %s convicts: falaj-verify fork --key KEY %s\n", o->evidence, o->evidence);
}

static int verify_one(const struct options *o, const char *bundle)
{
    struct verify_result r;
    CLEANUP(fd_closep) int fd = strcmp(bundle, "-") == 0 ? dup(0) : open(bundle, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fprintf(stderr, "falaj-verify: cannot open %s\n", bundle);
        return EXIT_UNUSABLE;
    }
    struct verify_opts opts = { .pinned = key_list_of(&o->keys).key, .pinned_count = o->keys.n,
        .trust_embedded = o->trust_embedded, .previous = o->has_previous ? &o->previous : NULL,
        .previous_is_unsigned = o->is_unsigned, .allow_unproved_drops = o->allow_unproved };
    int rc = audit_verify(read_fd, &fd, &opts, &r);
    if (o->bundle_count > 1 && !o->as_json)
        printf("%s: ", bundle);
    (o->as_json ? print_json : print_text)(&r);
    if (r.damage == VERIFY_UNREADABLE)
        return EXIT_UNUSABLE;
    if (r.damage == VERIFY_FORKED && o->evidence && o->has_previous && !o->is_unsigned)
        write_evidence(o, bundle);
    if (rc != 0)
        return EXIT_REFUSED;
    return o->save_head ? save_head(o->save_head, &r.signed_head) : 0;
}

int main(int argc, char **argv)
{
    struct options o = { 0 };
    /* What the machine's openssl.cnf names must not be able to change a verdict, nor be loaded into a static program. */
    setenv("OPENSSL_CONF", "/dev/null", 1);
    int rc = argc > 1 ? evidence_main(argc, argv) : -1, worst = 0;
    if (rc >= 0)
        return rc;
    rc = parse(argc, argv, &o);
    if (rc != 0)
        return rc < 0 ? 0 : rc;
    for (int i = 0; i < o.bundle_count; i++) {
        rc = verify_one(&o, o.bundles[i]);
        worst = rc == EXIT_REFUSED || worst == 0 ? rc : worst;
    }
    return worst;
}
