/* SPDX-License-Identifier: Apache-2.0 */
/* memory_search.h - what another process holds: its readable memory searched for bytes, its descriptors for a file.
 *
 * Mappings of more than a GiB are passed over: a sanitizer's shadow is terabytes, and no copy of anything. */
#pragma once
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>

/* How often the bytes stand in the memory of a process. ret_bytes: how much was read. */
static inline size_t search_memory(pid_t pid, const void *what, size_t n, size_t *ret_bytes)
{
    enum { STEP = 1 << 20 };
    char path[64], line[512], *room = malloc(STEP + n);
    size_t hits = 0;
    uintptr_t from, to;
    snprintf(path, sizeof path, "/proc/%ld/maps", (long)pid);
    FILE *maps = fopen(path, "r");
    snprintf(path, sizeof path, "/proc/%ld/mem", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(maps && fd >= 0);
    *ret_bytes = 0;
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " r", &from, &to) != 2 || !strstr(line, " r") || to - from > (size_t)1 << 30)
            continue;
        for (uintptr_t at = from; at < to; at += STEP) {        /* steps overlap by n: nothing hides at a border */
            size_t want = to - at < STEP + n ? to - at : STEP + n;
            ssize_t got = pread(fd, room, want, (off_t)at);
            *ret_bytes += got > 0 ? (size_t)got : 0;
            for (char *p = room, *end = room + (got > 0 ? got : 0); (p = memmem(p, (size_t)(end - p), what, n)); p++)
                hits += (size_t)(p - room) < STEP;
        }
    }
    fclose(maps);
    close(fd);
    free(room);
    return hits;
}

/* Whether a descriptor of the process is that file. */
static inline bool search_files(pid_t pid, const char *file)
{
    char path[300];
    struct stat want, st;
    bool found = false;
    assert_int_equal(stat(file, &want), 0);
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        snprintf(path, sizeof path, "/proc/%ld/fd/%s", (long)pid, entry->d_name);
        found = found || (stat(path, &st) == 0 && st.st_dev == want.st_dev && st.st_ino == want.st_ino);
    }
    closedir(d);
    return found;
}

/* The private number of a P-256 key in PKCS#8 (RFC 5915 §3: OCTET STRING of 32 bytes). */
static inline void search_key_number(struct str key_pem, uint8_t ret[32])
{
    char text[1024];
    uint8_t der[1024];
    size_t n = 0, len = 0;
    const char *at = strchr(key_pem.ptr, '\n'), *end = strstr(key_pem.ptr, "-----END");
    assert_true(at && end);
    for (; at < end && n < sizeof text; at++)
        if (*at != '\n' && *at != '\r')
            text[n++] = *at;
    assert_true(base64_decode(str_n(text, n), der, sizeof der, &len, false));
    const uint8_t *number = memmem(der, len, "\x04\x20", 2);
    assert_true(number && number + 34 <= der + len);
    memcpy(ret, number + 2, 32);
}
