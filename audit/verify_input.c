/* SPDX-License-Identifier: Apache-2.0 */
/* verify_input.c - keys and small files for all commands of falaj-verify. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "audit/key_text.h"
#include "audit/verify_evidence_int.h"
#include "core/base/cleanup.h"

ssize_t read_small(const char *path, char *out, size_t cap)
{
    CLEANUP(fd_closep) int fd = strcmp(path, "-") == 0 ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    if (fd < 0)
        return -1;
    for (;;) {
        ssize_t n = read(fd, out + len, cap - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -1 : (ssize_t)len;
        len += (size_t)n;
        if (len == cap)
            return -1;
    }
}

int key_list_add(struct key_list *l, const char *text)
{
    char file[FILE_MAX];
    struct err e = { 0 };
    size_t n = 0;
    if (l->n == KEYS_MAX) {
        fprintf(stderr, "falaj-verify: at most %d keys\n", KEYS_MAX);
        return EXIT_UNUSABLE;
    }
    if (hex_decode(str_c(text), l->key[l->n], AUDIT_PUB)) {
        l->n++;
        return 0;
    }
    ssize_t len = read_small(text, file, sizeof file);
    if (len < 0) {
        fprintf(stderr, "falaj-verify: cannot read key %s\n", text);
        return EXIT_UNUSABLE;
    }
    if (key_text_parse(str_n(file, (size_t)len), &l->key[l->n], KEYS_MAX - l->n, &n, &e) != ERR_OK) {
        fprintf(stderr, "falaj-verify: %s holds no Ed25519 public key: %s\n", text, e.msg);
        return EXIT_UNUSABLE;
    }
    l->n += n;
    return 0;
}

struct head_keys key_list_of(const struct key_list *l)
{
    return (struct head_keys){ (const uint8_t(*)[AUDIT_PUB])l->key, l->n };
}

int write_text(const char *path, const struct buf *b)
{
    FILE *f = b->overflow ? NULL : fopen(path, "we");
    bool is_good = f && fwrite(b->ptr, 1, b->len, f) == b->len;
    if (f && fclose(f) != 0)
        is_good = false;
    if (!is_good)
        fprintf(stderr, "falaj-verify: cannot write %s\n", path);
    return is_good ? 0 : EXIT_UNUSABLE;
}
