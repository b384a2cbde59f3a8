/* SPDX-License-Identifier: Apache-2.0 */
/* verify_evidence.c - `falaj-verify fork`, `head-proof`, `cosignature`, `witness` and `witness-key`: what two organisations need
 * to see that they are shown one log. */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>
#include "audit/verify_evidence_int.h"
#include "audit/witness.h"
#include "core/base/arena.h"
#include "core/base/cleanup.h"

enum { STATE_MAX = 8 << 20, LOGS_MAX = 4096, SEEN_BYTES = 8 << 20 };

const char evidence_usage[] =
    "       falaj-verify fork --key KEY FILE             a file that --evidence wrote: does it convict the key's holder?\n"
    "       falaj-verify head-proof --key KEY [--anchor ANCHORS] FILE\n"
    "                                                    is the tenant's head under the zone's head, and is that anchored?\n"
    "       falaj-verify witness --state FILE --key KEY --sign-with SECRET [--evidence FILE] INPUT\n"
    "                                                    co-sign the head of a bundle, or the zone's head of a head proof,\n"
    "                                                    if it extends what this witness saw before\n"
    "       falaj-verify witness-key SECRET              make a witness's key; prints its public key\n"
    "       falaj-verify cosignature --key KEY --witness KEY FILE\n";

struct tool {
    struct key_list keys, witnesses;
    const char *state, *secret, *evidence, *anchor, *input;
};

static int unusable(const char *what, const char *path)
{
    fprintf(stderr, "falaj-verify: %s %s\n", path, what);
    return EXIT_UNUSABLE;
}

static int parse_tool(int argc, char **argv, struct tool *t)
{
    static const struct option longs[] = { { "key", required_argument, NULL, 'k' }, { "witness", required_argument, NULL, 'w' },
        { "state", required_argument, NULL, 's' }, { "sign-with", required_argument, NULL, 'p' },
        { "evidence", required_argument, NULL, 'e' }, { "anchor", required_argument, NULL, 'a' }, { 0 } };
    int c, rc = 0;
    while (rc == 0 && (c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        switch (c) {
        case 'k': rc = key_list_add(&t->keys, optarg); break;
        case 'w': rc = key_list_add(&t->witnesses, optarg); break;
        case 's': t->state = optarg; break;
        case 'p': t->secret = optarg; break;
        case 'e': t->evidence = optarg; break;
        case 'a': t->anchor = optarg; break;
        default: rc = EXIT_UNUSABLE;
        }
    }
    if (rc == 0 && optind + 1 != argc)
        rc = EXIT_UNUSABLE;
    if (rc != 0)
        fprintf(stderr, "Usage:\n%s", evidence_usage);
    else
        t->input = argv[optind];
    return rc;
}

static int verdict(const char *fault, const char *good)
{
    if (fault) {
        printf("REFUSED: %s\n", fault);
        return EXIT_REFUSED;
    }
    puts(good);
    return 0;
}

static void print_head(const char *what, const struct audit_head *h)
{
    char tenant[UUID_TEXT];
    uuid_text(h->tenant_id, tenant);
    printf("%s: %s %s, size %llu, time %lld us\n", what, h->is_zone ? "zone" : "tenant", h->is_zone ? h->zone : tenant,
           (unsigned long long)h->size, (long long)h->ts_us);
}

static int fork_command(const struct tool *t, struct str file)
{
    struct fork_file f;
    struct audit_head a, b;
    if (!fork_file_decode(file, &f))
        return verdict("the file is no fork", NULL);
    const char *fault = fork_file_fault(&f, key_list_of(&t->keys));
    if (!fault && audit_head_decode(str_n(f.a.body, f.a.len), &a) && audit_head_decode(str_n(f.b.body, f.b.len), &b)) {
        print_head("first head", &a);
        print_head("second head", &b);
    }
    return verdict(fault, "CONVICTS: one key signed both heads, and they cannot both be of one log");
}

static int head_proof_command(const struct tool *t, struct str file)
{
    struct head_proof p;
    struct audit_head head, zone;
    if (!head_proof_decode(file, &p))
        return verdict("the file is no head proof", NULL);
    const char *fault = head_proof_fault(&p, key_list_of(&t->keys), &head, &zone);
    if (!fault) {
        print_head("head", &head);
        print_head("under", &zone);
        int rc = t->anchor ? anchor_check(t->anchor, &p.zone_head, key_list_of(&t->keys)) : 0;
        if (rc != 0)
            return rc;
    }
    return verdict(fault, p.has_previous ? "OK: the head is under the zone's head, which extends the earlier one" :
                   "OK: the head is under the zone's head");
}

static int cosignature_command(const struct tool *t, struct str file)
{
    struct cosignature c;
    if (!cosignature_decode(file, &c))
        return verdict("the file is no co-signature", NULL);
    return verdict(cosignature_fault(&c, key_list_of(&t->keys), key_list_of(&t->witnesses)),
        "OK: the witness co-signed this head");
}

static int key_command(const char *path)
{
    CLEANUP(secret32_wipe) struct secret32 seed;
    uint8_t pub[AUDIT_PUB];
    char text[2 * AUDIT_PUB + 2];
    struct err e;
    CLEANUP(fd_closep) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return unusable("cannot be made (it must not be there yet)", path);
    if (ed25519_keygen(&seed, pub, &e) != ERR_OK)
        return unusable("cannot be made: no random numbers", path);
    hex_encode(seed.b, sizeof seed.b, text);
    text[2 * AUDIT_PUB] = '\n';
    bool is_good = write(fd, text, 2 * AUDIT_PUB + 1) == 2 * AUDIT_PUB + 1 && fsync(fd) == 0;
    explicit_bzero(text, sizeof text);
    hex_encode(pub, AUDIT_PUB, text);
    return is_good ? (puts(text), 0) : unusable("cannot be written", path);
}

struct seen {
    struct bundle_head *heads;
    size_t n;
};

static bool read_seen(const char *path, struct seen *s)
{
    static char text[STATE_MAX];
    ssize_t n = read_small(path, text, STATE_MAX);
    struct str rest = str_n(text, n > 0 ? (size_t)n : 0), line;
    bool is_good = n >= 0 || access(path, F_OK) != 0;
    while (is_good && rest.len) {
        bool has_end = str_cut(rest, '\n', &line, &rest);
        is_good = has_end && s->n < LOGS_MAX && bundle_kept_decode(line, &s->heads[s->n]);
        s->n += is_good;
    }
    return is_good;
}

/* Whole or not at all: a file beside it, synced, takes its place. */
static bool write_seen(const char *path, const struct seen *s)
{
    CLEANUP(buf_releasep) struct buf b = BUF(STATE_MAX);
    char temp[4096];
    for (size_t i = 0; i < s->n; i++)
        bundle_kept_encode(&s->heads[i], &b);
    if (b.overflow || snprintf(temp, sizeof temp, "%s.new", path) >= (int)sizeof temp)
        return false;
    CLEANUP(fd_closep) int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return fd >= 0 && write(fd, b.ptr, b.len) == (ssize_t)b.len && fsync(fd) == 0 && rename(temp, path) == 0;
}

static int sign_head(const struct tool *t, const struct bundle_head *h)
{
    CLEANUP(secret32_wipe) struct secret32 seed;
    CLEANUP(buf_releasep) struct buf text = BUF(2048), out = BUF(8192);
    struct cosignature c = { .head = *h };
    char file[256];
    struct err e;
    ssize_t n = read_small(t->secret, file, sizeof file);
    bool is_good = n >= 2 * AUDIT_PUB && hex_decode(str_n(file, 2 * AUDIT_PUB), seed.b, sizeof seed.b) &&
                   ed25519_public(&seed, c.witness, &e) == ERR_OK && cosignature_text(h, &text) &&
                   ed25519_sign(&seed, text.ptr, text.len, c.sig, &e) == ERR_OK && cosignature_encode(&c, &out);
    explicit_bzero(file, sizeof file);
    if (!is_good)
        return unusable("is no key that witness-key made", t->secret);
    fputs(out.ptr, stdout);
    return 0;
}

static int refuse_head(const struct tool *t, const char *fault, const struct fork_file *fork, bool is_fork)
{
    CLEANUP(buf_releasep) struct buf b = BUF(EVIDENCE_BYTES_MAX);
    int rc = 0;
    fprintf(stderr, "REFUSED: %s\n", fault);
    if (is_fork && t->evidence)
        rc = fork_file_encode(fork, &b) ? write_text(t->evidence, &b) : EXIT_UNUSABLE;
    return rc ? rc : EXIT_REFUSED;
}

/* The head is kept before it is co-signed, so that nothing that was co-signed is ever forgotten. */
static int witness_command(const struct tool *t, struct str line)
{
    struct witness_ask ask;
    struct fork_file fork;
    CLEANUP(arena_freep) struct arena *a = arena_new(SEEN_BYTES);
    struct seen s = { .heads = ARENA_ARRAY(a, struct bundle_head, LOGS_MAX + 1) };
    char lock[4096];
    bool is_fork = false;
    if (!t->state || !t->secret || snprintf(lock, sizeof lock, "%s.lock", t->state) >= (int)sizeof lock)
        return unusable("takes --state and --sign-with", "witness");
    CLEANUP(fd_closep) int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) != 0 || !read_seen(t->state, &s))
        return unusable("cannot be read as what this witness saw", t->state);
    const char *fault = witness_read(line, key_list_of(&t->keys), &ask);
    size_t at = 0;
    while (!fault && at < s.n && !witness_is_same_log(&s.heads[at], &ask.head))
        at++;
    if (!fault)
        fault = witness_fault(&ask, at < s.n ? &s.heads[at] : NULL, key_list_of(&t->keys), &fork, &is_fork);
    if (!fault && at == LOGS_MAX)
        fault = "this witness keeps 4096 logs already";
    int rc = fault ? refuse_head(t, fault, &fork, is_fork) : 0;
    if (rc == 0) {
        s.heads[at] = ask.head;
        s.n += at == s.n;
        rc = write_seen(t->state, &s) ? sign_head(t, &ask.head) : unusable("cannot be written", t->state);
    }
    return rc;
}

int evidence_main(int argc, char **argv)
{
    static const char *const names[] = { "fork", "head-proof", "cosignature", "witness", "witness-key" };
    static char file[AUDIT_BODY_MAX * 4 + 2];
    struct tool t = { 0 };
    int which = 0;
    while (which < 5 && strcmp(argv[1], names[which]) != 0)
        which++;
    if (which == 5)
        return -1;
    int rc = parse_tool(argc - 1, argv + 1, &t);
    if (rc != 0 || which == 4)
        return rc ? rc : key_command(t.input);
    if (t.keys.n == 0)
        return unusable("takes --key: nothing in a file is believed without a key that you were given some other way",
            names[which]);
    CLEANUP(fd_closep) int fd = strcmp(t.input, "-") == 0 ? dup(0) : open(t.input, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t n = 1;
    bool is_bundle = which == 3;            /* its first line is all that is asked; what is evidence has no other */
    while (fd >= 0 && len < sizeof file && !(is_bundle && memchr(file, '\n', len)) &&
           (n = read(fd, file + len, sizeof file - len)) > 0)
        len += (size_t)n;
    const char *end = is_bundle ? memchr(file, '\n', len) : NULL;
    if (fd < 0 || n < 0)
        return unusable("cannot be read", t.input);
    struct str line = str_n(file, end ? (size_t)(end - file) : len);
    return which == 0 ? fork_command(&t, line) : which == 1 ? head_proof_command(&t, line) :
           which == 2 ? cosignature_command(&t, line) : witness_command(&t, line);
}
