/* SPDX-License-Identifier: Apache-2.0 */
/* harness_template.c - initdb and the migrations take longer than most tests that need them: they run once, and are copied. */
#include "tests/db/harness_int.h"
#include "core/base/cleanup.h"
#include "migrations/migrate.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every folder down to path may be passed through by the account that PostgreSQL runs as: a clone below /root may not. */
static bool is_reachable(const char *path)
{
    char part[400];
    struct stat st;
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = part; geteuid() == 0 && (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        if (stat(part, &st) != 0 || !(st.st_mode & S_IXOTH))
            return false;
        *slash = '/';
    }
    return true;
}

/* <build>/pg_template; below /tmp, by the inode of the build folder, when PostgreSQL cannot go there. */
static void template_folder(char out[400])
{
    const char *bin = getenv("FALAJ_BIN");
    int build_len = bin && strrchr(bin, '/') ? (int)(strrchr(bin, '/') - bin) : 0;     /* <build>/bin need not exist */
    snprintf(out, 400, "%.*s%s", build_len ? build_len : 4, build_len ? bin : "/tmp", "/pg_template");
    if (!is_reachable(out)) {
        struct stat st;
        *strrchr(out, '/') = '\0';
        if (stat(out, &st) != 0)
            harness_die(out);
        snprintf(out, 400, "/tmp/falaj-pg-template-%llu", (unsigned long long)st.st_ino);
    }
    if (mkdir(out, 0755) == 0)
        harness_give(out);
}

/* FNV-1a over what the template is made of. */
static uint64_t digest_of(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return h;
}

static uint64_t schema_digest(void)
{
    const struct schema *s = &schema_embedded;
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < s->nmigrations; i++)
        h = digest_of(h, s->migrations[i].sha256);
    for (size_t i = 0; i < s->nhelpers; i++)
        h = digest_of(h, s->helpers[i].sha256);
    for (size_t i = 0; i < s->nfunctions; i++)
        h = digest_of(h, s->functions[i].sha256);
    CLEANUP(fd_closep) int fd = open("migrations/roles.sql", O_RDONLY | O_CLOEXEC);
    char text[4096];
    for (ssize_t n; fd >= 0 && (n = read(fd, text, sizeof text - 1)) > 0;) {
        text[n] = '\0';
        h = digest_of(h, text);
    }
    return h;
}

static bool is_made(const char *note, uint64_t digest)
{
    CLEANUP(fd_closep) int fd = open(note, O_RDONLY | O_CLOEXEC);
    char text[32] = "";
    return fd >= 0 && read(fd, text, sizeof text - 1) > 0 && strtoull(text, NULL, 16) == digest;
}

static void make(const char *data, const char *note, uint64_t digest)
{
    unlink(note);
    harness_remove(data);
    struct pg_harness *h = pg_harness_new_cluster();
    char made[160];
    snprintf(made, sizeof made, "%s/data", h->child.dir);
    pg_harness_migrate(h, HARNESS_SCHEMA);
    harness_end(&h->child, SIGINT);         /* a checkpoint, and what was open is closed: the copy starts without recovery */
    harness_run((const char *const[]){ "/bin/cp", "-a", made, data, NULL }, h->child.dir, NULL);
    pg_harness_free(h);
    FILE *f = fopen(note, "w");
    if (!f || fprintf(f, "%016llx", (unsigned long long)digest) < 0 || fclose(f) != 0)
        harness_die(note);
}

void harness_template_copy(const char *to, const char *dir)
{
    char base[400], lock[440], note[440], data[440];
    template_folder(base);
    snprintf(lock, sizeof lock, "%s/lock", base);
    snprintf(data, sizeof data, "%s/data", base);
    snprintf(note, sizeof note, "%s/schema", base);
    uint64_t digest = schema_digest();
    CLEANUP(fd_closep) int fd = open(lock, O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (fd < 0 || flock(fd, LOCK_SH) != 0)
        harness_die(lock);
    if (!is_made(note, digest)) {
        if (flock(fd, LOCK_EX) != 0)        /* gives the shared one up: somebody else may have made it meanwhile */
            harness_die(lock);
        if (!is_made(note, digest))
            make(data, note, digest);
    }
    harness_run((const char *const[]){ "/bin/cp", "-a", data, to, NULL }, dir, NULL);
}
