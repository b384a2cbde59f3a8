/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_tokenize.c - texts to a shard of tokens and back, by a vocabulary that is learnt once; nothing leaves this machine. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "cli/output.h"
#include "core/base/cleanup.h"
#include "core/data/bpe.h"
#include "core/data/tokens.h"

enum { TEXT_MAX = 1 << 30, VOCABULARY_MAX = 1 << 20, SIZE_USUAL = 4096 };

/* Whole or not at all. */
static int save(struct cli *c, const char *path, const struct buf *head, const struct buf *body)
{
    const char *fresh = arena_printf(c->arena, "%s.%ld.part", path, (long)getpid());
    CLEANUP(fd_closep) int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    bool ok = fd >= 0;
    for (int i = 0; i < 2 && ok; i++) {
        const struct buf *b = i ? body : head;
        for (size_t at = 0; b && at < b->len && ok;) {
            ssize_t n = write(fd, b->ptr + at, b->len - at);
            ok = n > 0 || (n < 0 && errno == EINTR);
            at += n > 0 ? (size_t)n : 0;
        }
    }
    if (ok && fsync(fd) == 0 && rename(fresh, path) == 0)
        return CLI_OK;
    int rc = cli_fail(c, CLI_FAILED, NULL, "%s cannot be written: %s", path, strerror(errno));
    if (fd >= 0)
        unlink(fresh);
    return rc;
}

static int read_text(struct cli *c, const char *path, struct str *ret)
{
    struct err e = { 0 };
    return cli_read_file(c->arena, path, TEXT_MAX, ret, &e) == ERR_OK ? CLI_OK : cli_fail_err(c, &e, NULL);
}

static int read_vocabulary(struct cli *c, const char *path, struct bpe *ret)
{
    struct err e = { 0 };
    struct str file;
    if (cli_read_file(c->arena, path, VOCABULARY_MAX, &file, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    if (bpe_read(c->arena, file, ret, &e) != ERR_OK)
        return cli_fail(c, CLI_USAGE, "name a file that 'falaj dataset tokenize' wrote", "%s: %s", path, e.msg);
    return CLI_OK;
}

static int learn(struct cli *c, const char *path, const struct str *texts, struct bpe *ret)
{
    struct err e = { 0 };
    int64_t size = SIZE_USUAL;
    int rc = cli_flag_i64(c, "size", BPE_TOKENS_MIN, BPE_TOKENS_MAX, &size);
    CLEANUP(buf_releasep) struct buf all = BUF(TEXT_MAX), file = BUF(VOCABULARY_MAX);
    for (int i = 0; i < c->nargs && rc == CLI_OK; i++)
        if (!buf_add(&all, texts[i].ptr, texts[i].len))
            rc = cli_fail(c, CLI_USAGE, "learn from fewer texts, then use the vocabulary for the others",
                          "the texts have more than %d bytes",
                          TEXT_MAX);
    if (rc != CLI_OK)
        return rc;
    if (bpe_train(c->arena, buf_str(&all), (uint32_t)size, ret, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    if (ret->tokens < size)
        cli_note(c, "no pair comes twice any more: the vocabulary has %u tokens", ret->tokens);
    bpe_write(&file, ret);
    return save(c, path, &file, NULL);
}

static int encode(struct cli *c, const char *vocabulary, const char *to)
{
    struct str texts[CLI_ARGS_MAX];
    struct bpe v = { 0 };
    int rc = CLI_OK;
    for (int i = 0; i < c->nargs && rc == CLI_OK; i++)
        rc = read_text(c, c->args[i], &texts[i]);
    if (rc == CLI_OK)
        rc = access(vocabulary, F_OK) == 0 ? read_vocabulary(c, vocabulary, &v) : learn(c, vocabulary, texts, &v);
    if (rc != CLI_OK)
        return rc;
    CLEANUP(buf_releasep) struct buf head = BUF(TOKENS_HEADER), body = BUF(TEXT_MAX), file = BUF(VOCABULARY_MAX);
    bool ok = true;
    for (int i = 0; i < c->nargs && ok; i++)
        ok = bpe_encode(&v, texts[i], &body) && buf_add(&body, (char[]){ (char)(bpe_end(&v) & 255), (char)(bpe_end(&v) >> 8) },
                                                        2);
    if (!ok)
        return cli_fail(c, CLI_USAGE, "make several shards", "a shard has at most %d bytes", TEXT_MAX);
    bpe_write(&file, &v);
    const struct token_shard s = {
        (const unsigned char *)body.ptr, 2, v.tokens, body.len / 2, (uint64_t)c->nargs, buf_str(&file)
    };
    unsigned char header[TOKENS_HEADER];
    token_shard_header(&s, header);
    buf_add(&head, (const char *)header, sizeof header);
    if (!buf_add_str(&body, buf_str(&file)))
        return cli_fail(c, CLI_USAGE, "make several shards", "a shard has at most %d bytes", TEXT_MAX);
    rc = save(c, to, &head, &body);
    if (rc == CLI_OK)
        cli_note(c, "%llu tokens of a vocabulary of %zu written to %s", (unsigned long long)s.count, s.vocab, to);
    return rc;
}

static int decode(struct cli *c, const char *vocabulary, const char *to)
{
    struct err e = { 0 };
    struct str file;
    struct token_shard s;
    struct bpe v = { 0 };
    int rc = read_vocabulary(c, vocabulary, &v);
    if (rc == CLI_OK)
        rc = read_text(c, c->args[0], &file);
    if (rc != CLI_OK)
        return rc;
    CLEANUP(buf_releasep) struct buf text = BUF(TEXT_MAX);
    if (token_shard_read(file, &s, &e) != ERR_OK)
        return cli_fail(c, CLI_USAGE, NULL, "%s: %s", c->args[0], e.msg);
    for (uint64_t i = 0; i < s.count; i++) {
        const unsigned char *p = s.tokens + i * s.token_bytes;
        uint32_t token = (uint32_t)p[0] | (uint32_t)p[1] << 8;
        if (s.token_bytes == 4)
            token |= (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        if (bpe_decode(&v, token, &text, &e) != ERR_OK)
            return cli_fail(c, CLI_USAGE, "name the vocabulary that the shard was made with", "%s, token %llu: %s", c->args[0],
                            (unsigned long long)i, e.msg);
    }
    return save(c, to, &text, NULL);
}

int cmd_dataset_tokenize(struct cli *c)
{
    const char *vocabulary = cli_flag(c, "vocabulary"), *to = cli_flag(c, "to");
    if (!vocabulary || !to)
        return cli_fail(c, CLI_USAGE, "falaj dataset tokenize --vocabulary FILE --to FILE TEXT", "--%s is missing",
                        vocabulary ? "to" : "vocabulary");
    if (!cli_has(c, "decode"))
        return encode(c, vocabulary, to);
    return c->nargs == 1 ? decode(c, vocabulary, to) : cli_fail(c, CLI_USAGE, NULL, "--decode takes one shard");
}
