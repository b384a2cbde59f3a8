/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - falaj-migrate --url CONNINFO [--dry-run | --status | --preflight]: brings the schema up as the owner role. Exit status: 0 done (also when
 * there was nothing to do), 1 failed or refused, 2 wrong use. The address may come from FALAJ_MIGRATE_URL, so that a password need not
 * stand in the process list. */
#include "migrations/migrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(void *ctx, const char *line)
{
    (void)ctx;
    puts(line);
    fflush(stdout);
}

static int usage(FILE *to)
{
    fputs("Usage: falaj-migrate --url CONNINFO [--dry-run | --status | --preflight]\n"
          "Brings a Falaj database up to the schema of this program.\n"
          "  --url CONNINFO   libpq connection string of the owner role (or FALAJ_MIGRATE_URL)\n"
          "  --dry-run        says what would be applied\n"
          "  --status         lists the migrations and when each was applied\n"
          "  --preflight      says which tables pending migrations lock, how large they are and how long that may take\n"
          "  --version        prints the version\n",
          to);
    return to == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
    const char *url = getenv("FALAJ_MIGRATE_URL");
    enum migrate_mode mode = MIGRATE_APPLY;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--url") == 0 && i + 1 < argc)
            url = argv[++i];
        else if (strcmp(argv[i], "--dry-run") == 0)
            mode = MIGRATE_DRY_RUN;
        else if (strcmp(argv[i], "--status") == 0)
            mode = MIGRATE_STATUS;
        else if (strcmp(argv[i], "--preflight") == 0)
            mode = MIGRATE_PREFLIGHT;
        else if (strcmp(argv[i], "--version") == 0)
            return puts("falaj-migrate " FALAJ_VERSION) < 0;
        else
            return usage(strcmp(argv[i], "--help") == 0 ? stdout : stderr);
    }
    if (!url || !*url)
        return usage(stderr);
    struct err e = { 0 };
    int applied = 0;
    if (migrate_run(url, &schema_embedded, mode, say, NULL, &applied, &e) == ERR_OK)
        return 0;
    fprintf(stderr, "falaj-migrate: %s\n", e.msg);
    if (*e.detail)
        fprintf(stderr, "  %s\n", e.detail);
    return 1;
}
