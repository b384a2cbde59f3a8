/* SPDX-License-Identifier: Apache-2.0 */
/* bench_verify.c - falaj-verify over a bundle of a million events, beside `openssl dgst -sha256` over the same file in the same run.
 *
 * Usage: bench_verify [EVENTS [plain|filtered]] (plain: leaves as versions before ADR 0036 made them; filtered: every
 * entry withheld; FALAJ_BIN names the folder of falaj-verify). The ratio of the two times is the figure that counts:
 * both read the file and hash every byte once, the verifier hashes each event, chain value and tree node besides.
 * Exit 1 when a verification takes more than 5 s for a million events, more than 100 MB, or more than RATIO_MAX times openssl. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "audit/bundle.h"
#include "audit/chain.h"
#include "audit/record.h"
#include "audit/verify.h"
#include "core/base/assert.h"
#include "core/crypto/hash.h"
#include "core/crypto/sign.h"

enum { ROUNDS = 5, RATIO_MAX = 8, RSS_MAX_KB = 100 * 1024 };

static struct uuid tenant;
static bool is_plain, is_filtered;
static const struct audit_filter nobody = { .actor = "worker" };

/* The leaf of an event, and what is shown of it where it is withheld. */
static void leaf_of(struct str body, struct bundle_record *r)
{
    static struct audit_view view;
    static char text[AUDIT_MEMBER_MAX];
    struct merkle_hash plain;
    struct audit_fields f;
    merkle_leaf(body.ptr, body.len, &plain);
    r->leaf = plain;
    if (is_plain)
        return;
    ASSERT(audit_record_read(body, &view));
    audit_fields_of(&view, &plain, &f);
    r->leaf = f.leaf;
    r->is_withheld = is_filtered;
    if (is_filtered)
        audit_open(&view, &f, audit_filter_refuter(&view, &nobody), text, &r->opened);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void event_at(uint64_t i, struct buf *b)
{
    struct audit_event ev = { .zone = STR("ae-dxb-1"), .tenant_id = tenant, .ts_us = 1700000000000000 + (int64_t)i * 977,
        .code = (enum audit_code)(i % AUDIT_CODE_COUNT), .actor = AUDIT_USER, .actor_id = tenant, .roles = { STR("ml-engineer") }, .role_count = 1,
        .src_ip = STR("10.1.2.3"), .request_id = STR("req-1"), .resource_kind = STR("job"), .resource_prefix = "job", .resource_id = tenant,
        .rule = STR("role:ml-engineer"), .http_status = 201 };
    memcpy(ev.event_id.b, &i, sizeof i);
    audit_event_detail(&ev, AUDIT_D_INT("gpus", i % 8));
    buf_clear(b);
    ASSERT(audit_event_encode(&ev, b));
}

static void put(FILE *f, struct sha256 *sum, struct buf *b)
{
    ASSERT(fwrite(b->ptr, 1, b->len, f) == b->len);
    if (sum)
        sha256_add(sum, b->ptr, b->len);
    buf_clear(b);
}

static void make_manifest(uint64_t n, struct bundle_manifest *m)
{
    struct secret32 seed;
    struct err e;
    struct audit_head head = { .tenant_id = tenant, .zone = "ae-dxb-1", .size = n, .ts_us = 1 };
    struct merkle_frontier tree = { 0 };
    struct bundle_record r;
    struct buf b = BUF(AUDIT_BODY_MAX);
    uint8_t id[32];
    *m = (struct bundle_manifest){ .tenant_id = tenant, .zone = "ae-dxb-1", .from = 1, .to = n, .count = n, .key_count = 1,
                                    .version = is_plain ? 1 : 2, .is_filtered = is_filtered };
    if (is_filtered)
        m->filter = nobody;
    ASSERT(ed25519_keygen(&seed, m->keys[0].pub, &e) == ERR_OK);
    ed25519_key_id(m->keys[0].pub, id);
    hex_encode(id, 32, m->keys[0].key_id);
    memcpy(head.key_id, m->keys[0].key_id, sizeof head.key_id);
    chain_start(tenant, &m->before_chain);
    head.chain = m->before_chain;
    for (uint64_t i = 0; i < n; i++) {
        event_at(i, &b);
        leaf_of(buf_str(&b), &r);
        chain_next(&head.chain, &r.leaf, &head.chain);
        merkle_add(&tree, &r.leaf);
    }
    merkle_frontier_root(&tree, &head.root);
    buf_clear(&b);
    ASSERT(audit_head_encode(&head, &b));
    memcpy(m->head.body, b.ptr, b.len);
    m->head.len = b.len;
    ASSERT(ed25519_sign(&seed, b.ptr, b.len, m->head.sig, &e) == ERR_OK);
    secret32_wipe(&seed);
    buf_release(&b);
}

static void make_bundle(const char *path, uint64_t n)
{
    FILE *f = fopen(path, "w");
    struct bundle_manifest *m = calloc(1, sizeof *m);
    struct buf b = BUF(AUDIT_LINE_MAX), body = BUF(AUDIT_BODY_MAX);
    struct sha256 sum = { 0 };
    ASSERT(f && m);
    make_manifest(n, m);
    sha256_init(&sum);
    ASSERT(bundle_manifest_encode(m, &b));
    put(f, &sum, &b);
    struct merkle_hash chain = m->before_chain;
    for (uint64_t i = 0; i < n; i++) {
        struct bundle_record r = { .tseq = i + 1 };
        event_at(i, &body);
        r.event = buf_str(&body);
        leaf_of(r.event, &r);
        chain_next(&chain, &r.leaf, &chain);
        r.chain = chain;
        ASSERT(bundle_record_encode(&r, &b));
        put(f, &sum, &b);
    }
    struct bundle_end end = { .count = n };
    sha256_final(&sum, end.sha256.b);
    memcpy(end.sig, m->head.sig, AUDIT_SIG);
    ASSERT(bundle_end_encode(&end, &b));
    put(f, NULL, &b);
    ASSERT(fclose(f) == 0);
    buf_release(&b);
    buf_release(&body);
    free(m);
}

/* Seconds a program took; *rss_kb and *cpu_s are its own. */
static double time_of(char *const argv[], long *rss_kb, double *cpu_s)
{
    double t = now_s();
    int status;
    struct rusage u;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, 1);
        dup2(null, 2);
        execvp(argv[0], argv);
        _exit(127);
    }
    ASSERT(pid > 0 && wait4(pid, &status, 0, &u) == pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "%s failed\n", argv[0]);
        exit(1);
    }
    *rss_kb = u.ru_maxrss;
    *cpu_s = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
    return now_s() - t;
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    const char *bin = getenv("FALAJ_BIN");
    char path[] = "/tmp/falaj-bench-XXXXXX", verifier[512];
    int fd = mkstemp(path);
    double best = 1e9, best_ssl = 1e9, cpu, ignored;
    long rss = 0, max_rss = 0, ssl_rss;
    ASSERT(fd >= 0 && close(fd) == 0);
    is_plain = argc > 2 && strcmp(argv[2], "plain") == 0;
    is_filtered = argc > 2 && strcmp(argv[2], "filtered") == 0;
    snprintf(verifier, sizeof verifier, "%s/falaj-verify", bin ? bin : "build/release/bin");
    tenant = uuid_v7(1);
    make_bundle(path, n);
    for (int i = 0; i < ROUNDS; i++) {
        double ssl = time_of((char *[]){ "openssl", "dgst", "-sha256", path, NULL }, &ssl_rss, &ignored);
        double own = time_of((char *[]){ verifier, "--trust-embedded-key", path, NULL }, &rss, &cpu);
        printf("verify %.3f s (cpu %.3f s, %ld kB), openssl dgst %.3f s: ratio %.2f\n", own, cpu, rss, ssl, own / ssl);
        best = own < best ? own : best;
        best_ssl = ssl < best_ssl ? ssl : best_ssl;
        max_rss = rss > max_rss ? rss : max_rss;
    }
    if (!getenv("FALAJ_BENCH_KEEP"))
        unlink(path);
    double limit = 5.0 * (double)n / 1e6;
    printf("best: %.3f s for %llu events, %.0f events/s, %ld kB, ratio %.2f (limits %.1f s, %d kB, ratio %d)\n", best, (unsigned long long)n,
           (double)n / best, max_rss, best / best_ssl, limit, RSS_MAX_KB, RATIO_MAX);
    return best > limit || max_rss > RSS_MAX_KB || best > RATIO_MAX * best_ssl;
}
