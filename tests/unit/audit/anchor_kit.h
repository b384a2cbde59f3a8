/* SPDX-License-Identifier: Apache-2.0 */
/* anchor_kit.h - heads of a zone, the file that they are anchored in, and what every program has to say of a head proof and that
 * file. */
#pragma once
#include <sys/wait.h>
#include <unistd.h>
#include "audit/anchor_file.h"
#include "tests/unit/audit/heads_kit.h"

static inline void head_of(uint64_t size, uint8_t root, const struct key *by, struct bundle_head *ret)
{
    struct audit_head h = { .is_zone = true, .zone = "ae-dxb-1", .size = size, .ts_us = 1700000000000000 + (int64_t)size,
                            .root = { { root } } };
    struct buf b = BUF(HEAD_BODY_MAX);
    struct err e;
    snprintf(h.key_id, sizeof h.key_id, "%s", by->id);
    ASSERT(audit_head_encode(&h, &b));
    memcpy(ret->body, b.ptr, ret->len = b.len);
    ASSERT(ed25519_sign(&by->seed, b.ptr, b.len, ret->sig, &e) == ERR_OK);
    buf_release(&b);
}

/* As audit_anchor_file writes it. */
static inline void add_line(struct buf *file, const struct bundle_head *h, struct merkle_hash *prev)
{
    struct audit_head head;
    size_t start = file->len;
    char hex[2 * MERKLE_HASH + 1], body[BASE64_MAX(HEAD_BODY_MAX)], sig[BASE64_MAX(AUDIT_SIG)];
    ASSERT(audit_head_decode(str_n(h->body, h->len), &head));
    base64_encode((const uint8_t *)h->body, h->len, body, false);
    base64_encode(h->sig, AUDIT_SIG, sig, false);
    hex_encode(prev->b, MERKLE_HASH, hex);
    buf_printf(file, "{\"v\":1,\"zone\":\"%s\",\"size\":%llu,\"ts_us\":%lld,\"head\":\"%s\",\"sig\":\"%s\",\"prev\":\"%s\"}\n",
               head.zone, (unsigned long long)head.size, (long long)head.ts_us, body, sig, hex);
    sha256(file->ptr + start, file->len - start - 1, prev->b);
}


static inline void write_file(const char *dir, const char *name, struct str text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    ASSERT(f && fwrite(text.ptr, 1, text.len, f) == text.len && fclose(f) == 0);
}

/* A tenant's head as the only entry of the zone's log, the zone's head over it, and the proof that leads from one to the other.
 * */
static inline void write_proof(const char *dir, struct bundle_head *ret_zone)
{
    struct head_proof p = { .tseq = 1 };
    struct audit_head head, zone = { .is_zone = true, .zone = "ae-dxb-1", .size = 1, .ts_us = 1700000000000000 };
    struct log *l = log_make(tenant, 5, 1);
    struct buf b = BUF(EVIDENCE_BYTES_MAX), body = BUF(HEAD_BODY_MAX);
    struct err e;
    char hex[2 * AUDIT_PUB + 1];
    log_head(l, 5, k, &p.head, &head);
    merkle_leaf(p.head.body, p.head.len, &zone.root);
    snprintf(zone.key_id, sizeof zone.key_id, "%s", k->id);
    ASSERT(audit_head_encode(&zone, &body));
    memcpy(p.zone_head.body, body.ptr, p.zone_head.len = body.len);
    ASSERT(ed25519_sign(&k->seed, body.ptr, body.len, p.zone_head.sig, &e) == ERR_OK && head_proof_encode(&p, &b));
    write_file(dir, "proof.json", buf_str(&b));
    hex_encode(k->pub, AUDIT_PUB, hex);
    write_file(dir, "key", str_c(hex));
    hex_encode(other->pub, AUDIT_PUB, hex);
    write_file(dir, "stranger", str_c(hex));
    *ret_zone = p.zone_head;
    buf_release(&b);
    buf_release(&body);
    log_free(l);
}

/* Runs `command` in dir with this key (NULL: none) and more arguments: its exit code, and in out what it says. */
static inline int run_program(const char *dir, const char *command, const char *key_file, const char *more, char out[4096])
{
    char line[1024];
    snprintf(line, sizeof line, "cd %s && HOME=%s %s/%s %s%s %s 2>&1", dir, dir, getenv("FALAJ_BIN"), command,
             key_file ? "--key " : "", key_file ? key_file : "", more);
    FILE *p = popen(line, "r");
    ASSERT(p);
    out[fread(out, 1, 4095, p)] = 0;
    return WEXITSTATUS(pclose(p));
}

/* What `command` has to say: 0 where all is well, 2 where it is not, and which. */
static inline void check_program(const char *command)
{
    char dir[] = "/tmp/falaj-anchor-XXXXXX", out[4096], rm[64];
    struct bundle_head zone, later, fork;
    struct merkle_hash prev = { { 0 } };
    struct buf anchors = BUF(1 << 16);
    assert_non_null(mkdtemp(dir));
    write_proof(dir, &zone);
    assert_int_equal(run_program(dir, command, "key", "", out), 0);
    assert_int_equal(run_program(dir, command, "stranger", "", out), 2);
    assert_non_null(strstr(out, "not signed by a key that was given"));
    add_line(&anchors, &zone, &prev);
    head_of(2, 3, k, &later);
    add_line(&anchors, &later, &prev);
    write_file(dir, "anchors", buf_str(&anchors));
    assert_int_equal(run_program(dir, command, "key", "--anchor anchors", out), 0);
    assert_non_null(strstr(out, "2 lines that chain"));
    assert_int_equal(run_program(dir, command, "key", "--anchor none", out), 1);
    buf_clear(&anchors);
    prev = (struct merkle_hash){ { 0 } };
    add_line(&anchors, &later, &prev);
    write_file(dir, "anchors", buf_str(&anchors));
    assert_int_equal(run_program(dir, command, "key", "--anchor anchors", out), 2);
    assert_non_null(strstr(out, "is not in it; its newest is of size 2"));
    buf_clear(&anchors);
    prev = (struct merkle_hash){ { 0 } };
    head_of(1, 9, k, &fork);
    add_line(&anchors, &fork, &prev);
    write_file(dir, "anchors", buf_str(&anchors));
    assert_int_equal(run_program(dir, command, "key", "--anchor anchors", out), 2);
    assert_non_null(strstr(out, "two histories"));
    buf_release(&anchors);
    snprintf(rm, sizeof rm, "rm -r %s", dir);
    assert_int_equal(system(rm), 0);
}
