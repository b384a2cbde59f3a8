/* SPDX-License-Identifier: Apache-2.0 */
/* test_verify_tamper.c - nine kinds of tampering on a thousand random logs: all found, by name and at their entry, by both verifiers.
 *
 * The C verifier judges in the process; the bundles go to a folder whose paths the Python verifier then reads in one go, and each of
 * its verdicts must be the same. The damages of whole bundles (cut, joined, mixed) follow in the same way. Most of the time is Python's and
 * openssl's, so the default tier sees a hundred of the thousand logs. */
#include <sys/wait.h>
#include <unistd.h>
#include "tests/lib/share.h"
#include "tests/unit/audit/fixture.h"

static struct key *right, *wrong;
static struct uuid tenant_a, tenant_b;
static char dir[64], list_path[96];
static FILE *list;              /* one line for each bundle: path, and behind it what C said */
static unsigned written;

struct expected {
    enum verify_damage damage;
    uint64_t tseq;
};

static int setup(void **state)
{
    (void)state;
    right = key_make();
    wrong = key_make();
    tenant_a = uuid_v7(1000);
    tenant_b = uuid_v7(2000);
    strcpy(dir, "/tmp/falaj-tamper-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}
static int teardown(void **state)
{
    (void)state;
    char cmd[128];
    key_free(right);
    key_free(wrong);
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    return system(cmd);
}

static void replace_record(struct lines *s, size_t at, uint64_t tseq, const struct log_entry *e)
{
    buf_release(&s->line[at]);
    s->line[at] = lines_record(tseq, e);
}

/* How careful the attacker is: raw lines; numbers made dense again; leaf hashes fitted as well. */
static void renumber(struct lines *s)
{
    for (size_t i = 1; i < s->n; i++) {
        struct bundle_record r;
        struct buf b = BUF(AUDIT_LINE_MAX);
        ASSERT(bundle_record_decode(str_n(s->line[i].ptr, s->line[i].len - 1), &r));
        r.tseq = i;
        ASSERT(bundle_record_encode(&r, &b));
        buf_release(&s->line[i]);
        s->line[i] = b;
    }
}

static struct expected mut_edit(struct lines *s, struct log *l, uint64_t t, int care)
{
    struct log_entry e = l->e[t - 1];
    e.body = BUF(AUDIT_BODY_MAX);
    buf_add_str(&e.body, buf_str(&l->e[t - 1].body));
    char *p = strstr(e.body.ptr, "\"gpus\":") + 7;
    *p = *p == '9' ? '1' : (char)(*p + 1);
    if (care > 0)
        merkle_leaf(e.body.ptr, e.body.len, &e.leaf);
    replace_record(s, t, t, &e);
    buf_release(&e.body);
    return (struct expected){ VERIFY_EDITED, t };
}

static struct expected mut_delete(struct lines *s, struct log *l, uint64_t t, int care)
{
    (void)l;
    lines_delete(s, t);
    if (care > 0)
        renumber(s);
    return (struct expected){ VERIFY_DELETED, t };
}

static struct expected mut_tail(struct lines *s, struct log *l, uint64_t t, int care)
{
    (void)l;
    (void)care;
    while (s->n > t)
        lines_delete(s, s->n - 1);
    return (struct expected){ VERIFY_TRUNCATED, t };
}

static struct expected mut_insert(struct lines *s, struct log *l, uint64_t t, int care)
{
    struct log_entry e;
    uint32_t seed = (uint32_t)t;
    event_make(l->tenant, &seed, &e.body);
    merkle_leaf(e.body.ptr, e.body.len, &e.leaf);
    chain_start(l->tenant, &e.chain);
    if (care > 0)
        chain_next(t > 1 ? &l->e[t - 2].chain : &(struct merkle_hash){ 0 }, &e.leaf, &e.chain);
    if (care > 0 && t == 1) {
        struct merkle_hash start;
        chain_start(l->tenant, &start);
        chain_next(&start, &e.leaf, &e.chain);
    }
    lines_insert(s, t, lines_record(t, &e));
    if (care > 1)
        renumber(s);
    buf_release(&e.body);
    return (struct expected){ VERIFY_INSERTED, t };
}

static struct expected mut_swap(struct lines *s, struct log *l, uint64_t t, int care)
{
    uint64_t u = care == 1 || t + 3 > l->n ? t + 1 : t + 3;
    struct buf x = s->line[t];
    s->line[t] = s->line[u];
    s->line[u] = x;
    if (care == 1)
        renumber(s);
    return (struct expected){ VERIFY_SWAPPED, t };
}

static struct expected mut_duplicate(struct lines *s, struct log *l, uint64_t t, int care)
{
    lines_insert(s, t + 1, lines_record(t, &l->e[t - 1]));
    if (care > 0)
        renumber(s);
    return (struct expected){ VERIFY_DUPLICATED, t + 1 };
}

static struct expected mut_splice(struct lines *s, struct log *l, uint64_t t, int care)
{
    struct log *other = log_make(tenant_b, l->n, (uint32_t)t);
    struct log_entry e = other->e[t - 1];
    if (care > 0)
        chain_next(t > 1 ? &l->e[t - 2].chain : &e.chain, &e.leaf, &e.chain);
    replace_record(s, t, t, &e);
    log_free(other);
    return (struct expected){ VERIFY_SPLICED, t };
}

/* A log of one entry more whose entry t is another, signed with the right key. The head that was signed before stands in it as the
 * head to extend; where there is a genuine checkpoint at t - 1, it bounds the fork from below. */
static struct lines *fork_of(const struct log *l, uint64_t t, bool has_checkpoint, uint32_t *seed)
{
    struct log *f = calloc(1, sizeof *f);
    struct bundle_manifest *m = malloc(sizeof *m);
    struct bundle_head before, check;
    struct audit_head head;
    *f = (struct log){ .tenant = l->tenant, .n = l->n + 1, .e = calloc(l->n + 1, sizeof *f->e) };
    log_head(l, l->n, right, &before, &head);
    for (size_t i = 0; i < f->n; i++) {
        if (i == t - 1 || i == l->n) {
            event_make(f->tenant, seed, &f->e[i].body);
        } else {
            f->e[i].body = BUF(AUDIT_BODY_MAX);
            buf_add_str(&f->e[i].body, buf_str(&l->e[i].body));
        }
    }
    log_rechain(f, 0);
    struct lines *s = lines_make(f, right, (struct make){ .prev_size = l->n });
    ASSERT(bundle_manifest_decode(str_n(s->line[0].ptr, s->line[0].len - 1), m));
    m->previous = before;
    buf_clear(&s->line[0]);
    ASSERT(bundle_manifest_encode(m, &s->line[0]));
    if (has_checkpoint && t > 1) {
        struct buf line = BUF(AUDIT_LINE_MAX);
        log_head(l, t - 1, right, &check, &head);
        ASSERT(bundle_checkpoint_encode(&check, &line));
        lines_insert(s, t, line);
    }
    free(m);
    log_free(f);
    return s;
}

/* What C says, and the bundle for Python to say the same. */
static struct verify_result judge_text(struct str text)
{
    char path[128];
    struct verify_result r = verify_text(text, right, NULL);
    snprintf(path, sizeof path, "%s/%u", dir, written++);
    FILE *f = fopen(path, "w");
    ASSERT(f && fwrite(text.ptr, 1, text.len, f) == text.len && fclose(f) == 0);
    fprintf(list, "%s %s %llu\n", path, verify_damage_text(r.damage), (unsigned long long)r.tseq);
    return r;
}

static struct verify_result judge(const struct lines *s)
{
    struct buf b = lines_join(s);
    struct verify_result r = judge_text(buf_str(&b));
    buf_release(&b);
    return r;
}

static void start_list(const char *name)
{
    snprintf(list_path, sizeof list_path, "%s/%s", dir, name);
    list = fopen(list_path, "w");
    assert_non_null(list);
}

/* Feed the paths to Python and compare its verdicts, line by line. */
static void assert_python_agrees(void)
{
    char cmd[1024], want[256], got[256], path[128], kind[32], hex[65];
    unsigned long long tseq;
    const char *src = getenv("FALAJ_SRC");
    hex_encode(right->pub, 32, hex);
    ASSERT(fclose(list) == 0);
    snprintf(cmd, sizeof cmd, "cut -d' ' -f1 %s | python3 %s/docs/verify-audit.py --key %s -", list_path, src ? src : ".", hex);
    FILE *said = popen(cmd, "r"), *meant = fopen(list_path, "r");
    unsigned n = 0;
    assert_true(said && meant);
    while (fgets(want, sizeof want, meant)) {
        assert_int_equal(sscanf(want, "%127s %31s %llu", path, kind, &tseq), 3);
        snprintf(want, sizeof want, "%s %llu %s\n", kind, tseq, path);
        if (!fgets(got, sizeof got, said) || strcmp(got, want) != 0)
            fail_msg("C says %sPython says %s", want, got);
        unlink(path);
        n++;
    }
    assert_int_equal(WEXITSTATUS(pclose(said)), 0);
    fclose(meant);
    assert_true(n > 0);
}

typedef struct expected (*mutation)(struct lines *, struct log *, uint64_t, int);
static const struct {
    const char *name;
    mutation mutate;
    int cares;
} mutations[] = { { "edit", mut_edit, 2 }, { "delete", mut_delete, 2 }, { "tail", mut_tail, 1 }, { "insert", mut_insert, 3 },
                  { "swap", mut_swap, 2 }, { "duplicate", mut_duplicate, 2 }, { "splice", mut_splice, 2 } };

static void assert_found(const char *name, uint32_t round, struct verify_result r, struct expected want)
{
    if (r.damage != want.damage || r.tseq != want.tseq)
        fail_msg("%s, round %u: wanted %s at %llu, got %s at %llu: %s", name, round, verify_damage_text(want.damage),
                 (unsigned long long)want.tseq, verify_damage_text(r.damage), (unsigned long long)r.tseq, r.text);
}

static void nine_kinds_on_a_thousand_logs(void **state)
{
    (void)state;
    start_list("nine");
    const uint32_t rounds = (uint32_t)share_of("tampered logs", 100, 1000);
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t seed = round * 7919 + 1;
        size_t n = 4 + rnd(&seed) % 40;
        struct log *l = log_make(tenant_a, n, seed);
        struct lines *whole = lines_make(l, right, (struct make){ 0 });
        assert_found("none", round, verify_lines(whole, right, NULL), (struct expected){ VERIFY_OK, 0 });
        for (size_t i = 0; i < sizeof mutations / sizeof mutations[0]; i++) {
            uint64_t t = 1 + rnd(&seed) % (n - 1);
            struct lines *s = lines_copy(whole);
            struct expected want = mutations[i].mutate(s, l, t, (int)(round % (uint32_t)mutations[i].cares));
            assert_found(mutations[i].name, round, judge(s), want);
            lines_free(s);
        }
        uint64_t t = 1 + rnd(&seed) % n;
        struct lines *s = fork_of(l, t, round % 4 == 0, &seed);
        assert_found("fork", round, judge(s), (struct expected){ VERIFY_FORKED, round % 4 == 0 ? t : 1 });
        lines_free(s);
        s = lines_make(l, wrong, (struct make){ 0 });
        assert_found("key", round, judge(s), (struct expected){ VERIFY_WRONG_KEY, 0 });
        lines_free(s);
        lines_free(whole);
        log_free(l);
    }
    assert_python_agrees();
}

/* Records of b, manifest and end of a: cut, joined and mixed in every way that keeps lines whole, and in some that do not. */
static void damaged_bundles_as_a_whole(void **state)
{
    (void)state;
    static const struct audit_filter filter = { .action = "job." };
    start_list("whole");
    for (uint32_t round = 0; round < 40; round++) {
        uint32_t seed = round + 1;
        struct log *l = log_make(tenant_a, 24, seed), *other = log_make(round % 2 ? tenant_a : tenant_b, 24, seed + 99);
        struct lines *a = lines_make(l, right, (struct make){ .from = 1 + round % 5, .to = 24 - round % 3, .checkpoint = 9 });
        struct lines *b = lines_make(other, right, (struct make){ .from = 1 + round % 5, .to = 24 - round % 3, .checkpoint = 9 });
        struct lines *some = lines_make(l, right, (struct make){ .filter = &filter, .prev_size = 5 + round % 19 });
        struct buf whole_a = lines_join(a), whole_b = lines_join(b), text = BUF(1 << 20);
        assert_int_equal(judge(a).damage, VERIFY_OK);
        assert_int_equal(judge(some).damage, VERIFY_OK);
        size_t cut = rnd(&seed) % whole_a.len;
        assert_int_not_equal(judge_text(str_n(whole_a.ptr, cut)).damage, VERIFY_OK);
        buf_add(&text, whole_a.ptr, whole_a.len);
        buf_add(&text, whole_b.ptr, whole_b.len);
        assert_int_equal(judge_text(buf_str(&text)).damage, VERIFY_MALFORMED);
        buf_clear(&text);
        buf_add(&text, whole_a.ptr, a->line[0].len);                /* the manifest of a, all else of b */
        buf_add(&text, whole_b.ptr + b->line[0].len, whole_b.len - b->line[0].len);
        assert_int_not_equal(judge_text(buf_str(&text)).damage, VERIFY_OK);
        size_t half = 1 + rnd(&seed) % (a->n - 1);                  /* the first half of a, the second of b */
        struct lines *s = lines_copy(a);
        for (size_t i = half; i < s->n; i++) {
            buf_clear(&s->line[i]);
            buf_add_str(&s->line[i], buf_str(&b->line[i]));
        }
        assert_int_not_equal(judge(s).damage, VERIFY_OK);
        for (size_t i = 1; i < s->n / 2; i++) {                     /* backwards */
            struct buf x = s->line[i];
            s->line[i] = s->line[s->n - i];
            s->line[s->n - i] = x;
        }
        assert_int_not_equal(judge(s).damage, VERIFY_OK);
        lines_free(s);
        s = lines_copy(some);
        if (s->n > 2) {
            struct buf x = s->line[1];
            s->line[1] = s->line[2];
            s->line[2] = x;
            assert_int_not_equal(judge(s).damage, VERIFY_OK);
        }
        lines_free(s);
        s = lines_make(l, right, (struct make){ .dropped = 1 + round % 24 });
        struct verify_result r = judge(s);
        assert_true(r.damage == VERIFY_EDITED && r.tseq == 1 + round % 24);
        lines_free(s);
        buf_release(&whole_a);
        buf_release(&whole_b);
        buf_release(&text);
        lines_free(a);
        lines_free(b);
        lines_free(some);
        log_free(l);
        log_free(other);
    }
    assert_python_agrees();
}

/* Any two heads of a log, by the consistency proof alone: a selection of one entry has no other way to show it. */
static void any_head_extends_any_earlier_one(void **state)
{
    (void)state;
    start_list("heads");
    struct log *l = log_make(tenant_a, 64, 12);
    uint32_t seed = 3;
    for (uint64_t size = 2; size <= 64; size++) {
        for (uint64_t prev = 1; prev < size; prev++) {
            struct lines *s = lines_make(l, right, (struct make){ .from = size, .to = size, .head_size = size, .prev_size = prev, .is_selection = true });
            bool is_for_python = rnd(&seed) % 100 == 0;
            assert_int_equal((is_for_python ? judge(s) : verify_lines(s, right, NULL)).damage, VERIFY_OK);
            char *proof = strstr(s->line[0].ptr, "\"proof\":[\"");
            if (proof && is_for_python) {
                proof[10 + rnd(&seed) % 40] ^= 1;
                assert_int_not_equal(judge(s).damage, VERIFY_OK);
            }
            lines_free(s);
        }
    }
    log_free(l);
    assert_python_agrees();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nine_kinds_on_a_thousand_logs), cmocka_unit_test(damaged_bundles_as_a_whole),
        cmocka_unit_test(any_head_extends_any_earlier_one) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
