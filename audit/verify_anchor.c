/* SPDX-License-Identifier: Apache-2.0 */
/* verify_anchor.c - `falaj-verify head-proof --anchor`: is the zone's head in the file of anchors? */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "audit/anchor_file.h"
#include "audit/verify_evidence_int.h"
#include "core/base/cleanup.h"

static ssize_t read_fd(void *ctx, void *p, size_t n)
{
    ssize_t got;
    do
        got = read(*(const int *)ctx, p, n);
    while (got < 0 && errno == EINTR);
    return got;
}

int anchor_check(const char *path, const struct bundle_head *zone_head, struct head_keys keys)
{
    struct anchor_seen seen;
    char text[512];
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fprintf(stderr, "falaj-verify: %s cannot be read\n", path);
        return EXIT_UNUSABLE;
    }
    bool is_there = anchor_verdict(anchor_file_fault(read_fd, &fd, zone_head, keys, &seen), &seen, text, sizeof text);
    printf("%s%s: %s\n", is_there ? "anchored in " : "REFUSED: ", path, text);
    return is_there ? 0 : EXIT_REFUSED;
}
