/* SPDX-License-Identifier: Apache-2.0 */
/* anchor_file.c - reads the file that the zone's heads are anchored in. */
#include "audit/anchor_file.h"
#include <stdio.h>
#include "audit/lines_int.h"
#include "audit/scan_int.h"
#include "core/crypto/hash.h"

bool anchor_line_decode(struct str line, struct bundle_head *ret, struct merkle_hash *ret_prev)
{
    struct str s = line;
    struct audit_head head;
    char zone[AUDIT_ZONE_MAX + 1];
    uint64_t size;
    int64_t ts_us;
    size_t n;
    return scan_lit(&s, "{\"v\":1,\"zone\":") && scan_word(&s, zone, sizeof zone) && scan_lit(&s, ",\"size\":") &&
           scan_u64(&s, &size) && scan_lit(&s, ",\"ts_us\":") && scan_i53(&s, &ts_us) && scan_lit(&s, ",\"head\":") &&
           scan_base64(&s, ret->body, sizeof ret->body, &ret->len) && scan_lit(&s, ",\"sig\":") &&
           scan_base64(&s, ret->sig, AUDIT_SIG, &n) && n == AUDIT_SIG && scan_lit(&s, ",\"prev\":") && scan_hash(&s, ret_prev) &&
           scan_lit(&s, "}") && s.len == 0 && audit_head_decode(str_n(ret->body, ret->len), &head) && head.is_zone &&
           head.size == size && head.ts_us == ts_us && strcmp(head.zone, zone) == 0;
}

static bool is_same_head(const struct bundle_head *a, const struct bundle_head *b)
{
    return a->len == b->len && memcmp(a->body, b->body, a->len) == 0;
}

static const char *take_line(struct str line, const struct bundle_head *want, const struct audit_head *asked,
                             struct head_keys keys,
                             struct merkle_hash *before, struct anchor_seen *ret)
{
    struct bundle_head h;
    struct audit_head head;
    struct merkle_hash prev;
    ret->lines++;
    if (line.len > ANCHOR_LINE_MAX || !str_starts(line, "{\"v\":1,\"zone\":"))
        return "the line is none of an anchor file";
    bool is_after_torn = ret->is_torn;
    ret->is_torn = !anchor_line_decode(line, &h, &prev);
    if (ret->is_torn) {
        ret->torn++;
        sha256(line.ptr, line.len, before->b);
        return is_after_torn ? "two lines in a row are none of an anchor file" : NULL;
    }
    if (!merkle_eq(&prev, before))
        return "the line does not follow the one before it: a line was cut out, put in or changed";
    if (!head_is_signed(&h, keys, &head))
        return "the head is not signed by a key that was given";
    if (strcmp(head.zone, asked->zone) != 0)
        return "the head is of another zone";
    if (head.size < ret->newest)
        return "the head is smaller than the one before it";
    if (head.size == asked->size && !is_same_head(&h, want))
        return "another head of this size is anchored: the zone signed two histories";
    sha256(line.ptr, line.len, before->b);
    ret->newest = head.size;
    if (head.size == asked->size) {
        ret->is_there = true;
        ret->ts_us = head.ts_us;
    }
    return NULL;
}

const char *anchor_file_fault(verify_read_fn read, void *ctx, const struct bundle_head *want, struct head_keys keys,
                              struct anchor_seen *ret)
{
    struct line_feed lines;
    struct merkle_hash before = { { 0 } };
    struct audit_head asked;
    struct str line;
    enum line_state state = LINE_END;
    const char *fault = NULL;
    *ret = (struct anchor_seen){ 0 };
    if (!audit_head_decode(str_n(want->body, want->len), &asked) || !asked.is_zone)
        return "what is looked for is no head of a zone";
    lines_open(&lines, read, ctx);
    while (!fault && (state = lines_next(&lines, &line)) == LINE_HERE)
        fault = take_line(line, want, &asked, keys, &before, ret);
    lines_close(&lines);
    if (!fault && state == LINE_ERROR)
        return "the file cannot be read";
    return !fault && state == LINE_LONG ? "a line is too long" : fault;
}

bool anchor_verdict(const char *fault, const struct anchor_seen *seen, char *text, size_t cap)
{
    if (fault)
        snprintf(text, cap, "line %llu: %s", (unsigned long long)seen->lines, fault);
    else if (!seen->is_there)
        snprintf(text, cap,
                 "the zone's head is not in it; its newest is of size %llu. Ask for a proof again when it was anchored",
                 (unsigned long long)seen->newest);
    else
        snprintf(text, cap, "%llu lines that chain%s", (unsigned long long)seen->lines,
                 seen->torn ? "; before each that a crash tore, lines may have been cut out" : "");
    return !fault && seen->is_there;
}
