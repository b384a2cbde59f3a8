/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - one table of commands, and what a running command has in its hands.
 *
 * Everything a person can find out about a command (parser, --help, completion, man page, "did you mean") comes from its row in
 * table.c. Commands that are one API call have no code: run_rest reads method, path, query, body and columns of the row.
 * Small languages of a row, all words separated by spaces:
 *   path    "/v1/jobs/{0}": {N} is argument N, percent-encoded; with a noun, argument 0 may be a name and is looked up
 *   query   "state=state": parameter=flag, left out where the flag is not given
 *           &user_id=user: the flag may be a name as well, and is looked up
 *   body    "name=@0 #hard_limit=@1 *allowed_zones=allowed-zones %spec=spec": member=source; a source is @N, a flag, or 'TEXT;
 * a member
 *           is text, or # a whole number, * a list from comma-separated text, % JSON text, ? true,
 *           < the text of a file, & a name or id of the kind whose id the member is
 *   columns "job_id:ID name:NAME +slots:SLOTS": member:HEADING; + only with -o wide; the first column is the name (-o name)
 * A command returns an exit code (exit_code.def) after it has said why on standard error. Memory: c->arena, dies with the process. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/str.h"
#include "cli/profile.h"

struct http_client;
struct jval;

enum cli_exit {
#define EXIT(name, number, doc) CLI_##name = (number),
#include "cli/exit_code.def"
#undef EXIT
};

enum out_format { OUT_TABLE, OUT_WIDE, OUT_JSON, OUT_YAML, OUT_CSV, OUT_NAME, OUT_JSONPATH };
enum { CLI_ARGS_MAX = 16, CLI_FLAGS_MAX = 48 };

struct cli_flag {
    const char *name;           /* without dashes; NULL ends a list */
    char letter;                /* 0: none */
    const char *arg;            /* name of its value; NULL: a switch */
    const char *doc;
    const char *values;         /* "table|json": for completion and help; NULL: anything */
};

/* A kind of object: how its id looks and where its names are listed. */
struct noun {
    const char *what;           /* "data set" */
    const char *prefix;         /* "dst_" */
    const char *list;           /* "/v1/datasets" */
    const char *id;             /* "dataset_id" */
};

struct cli;
enum { CMD_LOCAL = 1 /* talks to no API */, CMD_LIST = 2 /* GET of a list with pages */, CMD_AFTER = 4 /* … whose next page begins after the last number */,
       CMD_SPEC = 8 /* has the flags of a job's spec as well (spec_flags.h) */,
       CMD_TEST = 16 /* its answer is a verdict: ends with FAILED where `ok` is false */,
       CMD_WORDS = 64 /* what stands behind "--" is the caller's command */,
       CMD_HIDDEN = 32 /* for programs: not in help, manual pages and completion; its words are not read as flags */ };

struct command {
    const char *group;          /* "job"; NULL: a command of one word */
    const char *name;
    const char *args;           /* "JOB [FILE]"; "" for none */
    int min, max;
    const struct cli_flag *flags;       /* read through command_flags() */
    int (*run)(struct cli *c);
    const char *doc;            /* one sentence without full stop */
    const char *more;           /* further text and examples; NULL: none */
    unsigned how;
    const struct noun *noun;
    const char *method, *path, *query, *body, *columns;
};

struct cli_given {
    const struct cli_flag *flag;
    const char *value;          /* "" for switches */
};

struct cli {
    struct arena *arena;
    const struct command *cmd;
    const char *args[CLI_ARGS_MAX];
    int nargs;
    char **words;                   /* what stands behind "--", of a command with CMD_SPEC or CMD_WORDS */
    int nwords;
    struct cli_given given[CLI_FLAGS_MAX];
    int ngiven;
    enum out_format format;
    const char *jsonpath;
    bool is_quiet, is_debug, is_color, is_yes;      /* is_color: standard error is a terminal and colour is wanted */
    struct profile profile;     /* after flag > environment > file > default */
    struct http_client *http;   /* made by the first call */
    int late;                   /* an exit code that was found while printing; main takes it where the command itself says OK */
    FILE *out, *err;            /* stdout, stderr; tests put their own */
};

extern const struct command command_table[];
extern const size_t command_count;
/* The kind of object that has this id ("job_id"), or NULL. */
const struct noun *noun_by_id(struct str id);
extern const struct cli_flag global_flags[];
struct command_group {
    const char *name, *doc;
};
extern const struct command_group command_groups[];     /* ended by NULL */

/* Fill c from the words after the program's name. CLI_OK with c->cmd NULL: help was asked for and printed. */
int cli_parse(struct cli *c, int argc, char **argv);
/* Value of a flag, NULL when absent; the last one given wins. */
const char *cli_flag(const struct cli *c, const char *name);
bool cli_has(const struct cli *c, const char *name);
/* A whole number from a flag; CLI_USAGE after a message when it is none. *ret is untouched when the flag is absent. */
int cli_flag_i64(struct cli *c, const char *name, int64_t min, int64_t max, int64_t *ret);
const struct command *command_find(const char *group, const char *name);
/* The nearest known word within a third of its length, or NULL. group NULL: first words. */
const char *command_guess(const char *group, const char *word);

/* One line what failed, one line what to do (NULL: none). Returns code. */
int cli_fail(struct cli *c, int code, const char *todo, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* The same from an error of ours. */
int cli_fail_err(struct cli *c, const struct err *e, const char *todo);
int cli_exit_of(enum errc code);
/* A remark for people: standard error, not with --quiet. */
void cli_note(struct cli *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Ask on the terminal; true at once with --yes; false where nobody can answer. */
bool cli_confirm(struct cli *c, const char *question);
/* Standard output is a pipe or socket whose reader has gone away. */
bool cli_reader_is_gone(const struct cli *c);
/* Read a whole file ("-": standard input), at most max bytes. */
enum errc cli_read_file(struct arena *a, const char *path, size_t max, struct str *ret, struct err *e) MUST_CHECK;

/* help.c, complete.c, man.c: all from the table. */
void help_top(FILE *out);
void help_group(FILE *out, const char *group);
void help_command(FILE *out, const struct command *cmd);
void help_exit_codes(FILE *out);
int cmd_help(struct cli *c);
int cmd_completion(struct cli *c);
int cmd_man(struct cli *c);
void man_command(FILE *out, const struct command *cmd);

int run_rest(struct cli *c);
int cmd_complete(struct cli *c);
int cmd_profile_use(struct cli *c);
int cmd_invitation_accept(struct cli *c);
int cmd_job_batch(struct cli *c);
int cmd_login(struct cli *c);
int cmd_logout(struct cli *c);
int cmd_config_view(struct cli *c);
int cmd_status(struct cli *c);
int cmd_version(struct cli *c);
int cmd_api(struct cli *c);
int cmd_doctor(struct cli *c);
int cmd_support(struct cli *c);
int cmd_job_submit(struct cli *c);
int cmd_job_logs(struct cli *c);
int cmd_job_events(struct cli *c);
int cmd_job_why(struct cli *c);
int cmd_job_clock(struct cli *c);
int cmd_job_report(struct cli *c);
int cmd_job_exec(struct cli *c);
int cmd_job_shell(struct cli *c);
int cmd_job_attach(struct cli *c);
int cmd_job_forward(struct cli *c);
int cmd_queue_share(struct cli *c);
int cmd_secret_set(struct cli *c);
int cmd_environment_import(struct cli *c);
int cmd_environment_sign(struct cli *c);
int cmd_environment_trust(struct cli *c);
int cmd_environment_require(struct cli *c);
int cmd_environment_allow(struct cli *c);
int cmd_environment_offer(struct cli *c);
int cmd_job_depend(struct cli *c);
int cmd_job_wait(struct cli *c);
int cmd_job_counts(struct cli *c);
int cmd_dataset_upload(struct cli *c);
int cmd_dataset_download(struct cli *c);
int cmd_dataset_tokenize(struct cli *c);
int cmd_model_download(struct cli *c);
int cmd_job_download(struct cli *c);
int cmd_model_import(struct cli *c);
int cmd_model_optimise(struct cli *c);
int cmd_model_show(struct cli *c);
int cmd_content_delete(struct cli *c);
int cmd_infer(struct cli *c);
int cmd_generate(struct cli *c);
int cmd_deploy_create(struct cli *c);
int cmd_deploy_roll(struct cli *c);
int cmd_quota_set(struct cli *c);
int cmd_quota_list(struct cli *c);
int cmd_system_health(struct cli *c);
int cmd_audit_csv(struct cli *c);
int cmd_audit_export(struct cli *c);
int cmd_usage(struct cli *c);
int cmd_audit_verify(struct cli *c);
int cmd_audit_head_proof(struct cli *c);
int cmd_keys_init(struct cli *c);
int cmd_dev(struct cli *c);
int cmd_demo(struct cli *c);
