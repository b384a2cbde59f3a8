/* SPDX-License-Identifier: Apache-2.0 */
/* verify_evidence_int.h - what the commands of falaj-verify share: keys from the command line, small files, exit codes. */
#pragma once
#include <sys/types.h>
#include "audit/evidence.h"
#include "core/crypto/sign.h"

enum { EXIT_UNUSABLE = 1, EXIT_REFUSED = 2, KEYS_MAX = 16, FILE_MAX = 32768 };

struct key_list {
    uint8_t key[KEYS_MAX][AUDIT_PUB];
    size_t n;
};

/* A whole small file; the length, or -1. */
ssize_t read_small(const char *path, char *out, size_t cap);
/* A PEM file, or 64 hex digits. 0, or EXIT_UNUSABLE with the reason on stderr. */
int key_list_add(struct key_list *l, const char *text);
struct head_keys key_list_of(const struct key_list *l);
/* 0, or EXIT_UNUSABLE with the reason on stderr. */
int write_text(const char *path, const struct buf *b);

/* Prints what the file of anchors says of the zone's head: 0 it is in it, EXIT_REFUSED it is not or a line is wrong. */
int anchor_check(const char *path, const struct bundle_head *zone_head, struct head_keys keys);

/* `falaj-verify fork | head-proof | cosignature | witness | witness-key …`; -1: argv[1] is none of these. */
int evidence_main(int argc, char **argv);
extern const char evidence_usage[];
