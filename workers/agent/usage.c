/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c - reading /proc/PID/stat: fields 14 and 15 are processor time in ticks, 24 resident pages (proc(5)). */
#include "workers/agent/usage.h"

#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include "core/base/assert.h"
#include "core/base/cleanup.h"
#include "core/json/encode.h"

/* A point of the curves that every job gets beside its own. */
struct usage_point { double cpu_percent; int64_t memory_bytes; };
SCHEMA_OF(usage_point, "What a job uses of its machine",
    FIELD_AS(usage_point, cpu_percent, "system.cpu_percent", 0, .doc = "Processor time in percent of its slots"),
    FIELD_AS(usage_point, memory_bytes, "system.memory_bytes", 0, .doc = "Resident memory"));

bool usage_read(pid_t pid, int64_t *ret_cpu_us, int64_t *ret_bytes)
{
    char path[64], text[1024];
    long long user = 0, sys = 0, pages = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (n <= 0)
        return false;
    text[n] = '\0';
    const char *p = strrchr(text, ')');         /* the name before it may hold anything */
    if (!p || sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld %*d %*d %*d %*d %*d %*d %*u %*u %lld", &user, &sys, &pages) != 3)
        return false;
    *ret_cpu_us = (user + sys) * 1000000 / sysconf(_SC_CLK_TCK);
    *ret_bytes = pages * sysconf(_SC_PAGESIZE);
    return true;
}

static void write_sample(const struct usage *u, int64_t now_us, int64_t cpu_us, int64_t wall_us, int64_t bytes, struct usage_sample *ret)
{
    double percent = wall_us > 0 ? 100.0 * (double)cpu_us / (double)wall_us / (double)(u->slots > 0 ? u->slots : 1) : 0;
    ret->step = (now_us - u->began_us) / 1000000;
    CLEANUP(buf_releasep) struct buf b = BUF(sizeof ret->json - 1);
    json_encode(&usage_point_schema, &(struct usage_point){ round(percent * 10) / 10, bytes }, &b);
    ASSERT(!b.overflow);
    memcpy(ret->json, b.ptr, b.len + 1);
}

void usage_begin(struct usage *u, pid_t pid, int64_t slots, int64_t interval_ms, int64_t now_us)
{
    *u = (struct usage){ .pid = pid, .slots = slots, .interval_us = interval_ms * 1000, .began_us = now_us, .last_us = now_us };
    u->next_us = u->interval_us ? now_us + u->interval_us : INT64_MAX;
}

bool usage_due(struct usage *u, int64_t now_us, struct usage_sample *ret)
{
    int64_t cpu_us, bytes;
    if (now_us < u->next_us)
        return false;
    u->next_us = now_us + u->interval_us;
    if (!usage_read(u->pid, &cpu_us, &bytes) || bytes == 0)     /* no pages: it has ended and waits to be reaped */
        return false;
    write_sample(u, now_us, cpu_us - u->last_cpu_us, now_us - u->last_us, bytes, ret);
    u->last_us = now_us;
    u->last_cpu_us = cpu_us;
    if (++u->count % USAGE_SAMPLES_EACH == 0) {
        u->interval_us *= 2;
        u->next_us = now_us + u->interval_us;
    }
    return true;
}

bool usage_end(struct usage *u, int64_t now_us, int64_t cpu_us, int64_t peak_bytes, struct usage_sample *ret)
{
    if (!u->interval_us || u->count)
        return false;
    write_sample(u, now_us, cpu_us, now_us - u->began_us, peak_bytes, ret);
    u->count = 1;
    return true;
}
