/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - falaj-backup COMMAND: makes, checks, lists, restores and tries backups of a Falaj. Exit status: 0 all is good, 1 it
 * could not be done, 2 wrong use, 3 something is damaged or missing, and the report names it. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include "backup/backup.h"
#include "core/base/cleanup.h"
#include "core/base/log.h"
#include "core/table/config.h"

enum { EXIT_USE = 2, EXIT_DAMAGED = 3, SECMEM_BYTES = 1 << 18, ARENA_BYTES = 512 << 20, SAMPLE = 20 };

static const char usage_text[] =
    "Usage: falaj-backup COMMAND [--config FILE] [options]\n"
    "  init      --recovery-key FILE    makes an empty folder of backups and its keys; take FILE away from this machine\n"
    "  create                           makes a backup; only what is new is copied\n"
    "  list                             names the backups\n"
    "  verify    [--recovery-key FILE]  every file and object by digest and signature; with the key also what is in the\n"
    "                                   database: the audit logs end to end, and whether objects open\n"
    "  restore   --recovery-key FILE    into an empty place\n"
    "  drill     --recovery-key FILE    restores beside the original, proves all, prints RPO and RTO, removes it again\n"
    "  prune     --keep N               removes all but the newest N backups, and what only they had\n"
    "Options:\n"
    "  --set NAME          the backup, as list names it (the newest)\n"
    "  --signer HEX        the key that manifests are signed with, where no recovery key names it\n"
    "  --admin WORDS       PostgreSQL's superuser, for restore (\"host=/run/postgresql user=postgres\")\n"
    "  --database NAME     that restore makes (falaj)\n"
    "  --files-to DIR      where restore unpacks settings and key stores: a new folder\n"
    "  --roles FILE        roles.sql (/usr/share/falaj/sql/roles.sql)\n"
    "  --account NAME      as root: the account that falaj-api runs as (falaj-api; \"\" for this one)\n"
    "  --scratch DIR       where verify and drill try the backup (/var/tmp)\n"
    "  --sample N          objects that verify opens (20)\n"
    "  --accept-missing    restore what there is of a backup that is not whole\n"
    "  --json              the report as one JSON document\n"
    "Settings: backup.dir, backup.url, backup.sign_key, backup.include, blob.dir, audit.erasure_dir, keys.sockets.\n"
    "Exit: 0 good, 1 could not be done, 2 wrong use, 3 damaged or missing.\n";

static const struct command {
    const char *name;
    enum errc (*run)(struct backup *b, struct err *e);
    bool needs_repo;
} commands[] = {
    { "init", backup_init, false },     { "create", backup_create, true }, { "list", backup_list, true },
    { "verify", backup_verify, true },  { "restore", backup_restore, true }, { "drill", backup_drill, true },
    { "prune", backup_prune, true },
};

static bool is_name(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return n > 0 && n <= 40 && s[n] == '\0';
}

static bool one_option(struct backup *b, int option, const char *value)
{
    switch (option) {
    case 's': b->set = str_c(value); return true;
    case 'k': b->recovery_file = value; return true;
    case 'S': b->signer = value; return true;
    case 'a': b->admin = value; return true;
    case 'd': b->database = value; return is_name(value);
    case 'f': b->files_to = value; return true;
    case 'r': b->roles = value; return true;
    case 'u': b->account = value; return true;
    case 't': b->scratch = value; return true;
    case 'n': return str_to_i64(str_c(value), 1, 100000, &b->sample);
    case 'K': return str_to_i64(str_c(value), 1, 10000, &b->keep);
    case 'm': b->accepts_missing = true; return true;
    case 'j': b->report.as_json = true; return true;
    default: return false;
    }
}

static bool options_read(int argc, char **argv, struct backup *b)
{
    static const struct option options[] = {
        { "set", required_argument, NULL, 's' },      { "recovery-key", required_argument, NULL, 'k' },
        { "signer", required_argument, NULL, 'S' },   { "admin", required_argument, NULL, 'a' },
        { "database", required_argument, NULL, 'd' }, { "files-to", required_argument, NULL, 'f' },
        { "roles", required_argument, NULL, 'r' },    { "account", required_argument, NULL, 'u' },
        { "scratch", required_argument, NULL, 't' },  { "sample", required_argument, NULL, 'n' },
        { "keep", required_argument, NULL, 'K' },     { "accept-missing", no_argument, NULL, 'm' },
        { "json", no_argument, NULL, 'j' },           { 0 },
    };
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
        if (!one_option(b, option, optarg))
            return false;
    return optind == argc - 1;
}

static int fail(const struct err *e)
{
    fprintf(stderr, "falaj-backup: %s\n", e->msg);
    if (*e->detail)
        fprintf(stderr, "  %s\n", e->detail);
    return e->code == ERR_DAMAGED || e->code == ERR_NOT_FOUND ? EXIT_DAMAGED : EXIT_FAILURE;
}

static int run(const struct command *c, struct backup *b)
{
    struct err e;
    b->arena = arena_new(ARENA_BYTES);
    enum errc rc = c->needs_repo ? repo_open(b->arena, b->cfg->backup_dir, &b->repo, &e) : ERR_OK;
    if (rc == ERR_OK)
        rc = c->run(b, &e);
    report_end(&b->report);
    repo_close(&b->repo);
    arena_free(b->arena);
    return rc != ERR_OK ? fail(&e) : b->report.failures ? EXIT_DAMAGED : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct backup b = { .report.rows = BUF(16 << 20), .admin = "host=/run/postgresql user=postgres", .database = "falaj",
                        .roles = "/usr/share/falaj/sql/roles.sql", .account = "falaj-api", .scratch = "/var/tmp", .sample =
                            SAMPLE };
    CLEANUP(config_freep) struct config *cfg = NULL;
    struct err e;
    log_setup("falaj-backup", LOG_ERROR, LOGFMT, STDERR_FILENO);
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage_text, stdout) < 0;
    if (argc > 1 && strcmp(argv[1], "--version") == 0)
        return puts("falaj-backup " FALAJ_VERSION) < 0;
    signal(SIGPIPE, SIG_IGN);
    if (config_load(&argc, argv, &cfg, &e) != ERR_OK || secmem_init(SECMEM_BYTES, false, &e) != ERR_OK)
        return fail(&e);
    b.cfg = cfg;
    if (!options_read(argc, argv, &b)) {
        fputs(usage_text, stderr);
        return EXIT_USE;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[optind], commands[i].name) == 0)
            return run(&commands[i], &b);
    fputs(usage_text, stderr);
    return EXIT_USE;
}
