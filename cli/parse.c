/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c - words of the command line to a row of the table with its arguments and flags.
 *
 * Flags may stand anywhere after the command, global ones before it too: --name=value, --name value, -o value, -ovalue. "--" ends
 * them; -10 is a number. Words that are not known get the nearest known one (edit distance at most a third of the word)
 * as advice. */
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include "cli/output.h"
#include "cli/spec_flags.h"
#include "core/base/nearest.h"

static void guess_one(const char *word, const char *known, const char **best, size_t *least)
{
    size_t d = known ? nearest_distance(str_c(word), str_c(known)) : NEAREST_MAX;
    if (d < *least) {
        *least = d;
        *best = known;
    }
}

const char *command_guess(const char *group, const char *word)
{
    const char *best = NULL;
    size_t least = strlen(word) / 3 + 2;
    for (size_t i = 0; i < command_count; i++) {
        const struct command *cmd = &command_table[i];
        if (group && cmd->group && strcmp(group, cmd->group) == 0)
            guess_one(word, cmd->name, &best, &least);
        else if (!group && !(cmd->how & CMD_HIDDEN))
            guess_one(word, cmd->group ? cmd->group : cmd->name, &best, &least);
    }
    return best;
}

static bool is_group(const char *word)
{
    for (size_t i = 0; i < command_count; i++) {
        if (command_table[i].group && strcmp(command_table[i].group, word) == 0)
            return true;
    }
    return false;
}

const struct command *command_find(const char *group, const char *name)
{
    for (size_t i = 0; i < command_count; i++) {
        const struct command *cmd = &command_table[i];
        bool is_same = group ? cmd->group && strcmp(cmd->group, group) == 0 : !cmd->group;
        if (is_same && strcmp(cmd->name, name) == 0)
            return cmd;
    }
    return NULL;
}

static const struct cli_flag *flag_in(const struct cli_flag *list, const char *name, size_t n, char letter)
{
    for (const struct cli_flag *f = list; f && f->name; f++) {
        if (letter ? f->letter == letter : strlen(f->name) == n && memcmp(f->name, name, n) == 0)
            return f;
    }
    return NULL;
}

static const struct cli_flag *flag_of(const struct cli *c, const char *name, size_t n, char letter)
{
    const struct cli_flag *f = c->cmd ? flag_in(command_flags(c->cmd), name, n, letter) : NULL;
    return f ? f : flag_in(global_flags, name, n, letter);
}

static int unknown_flag(struct cli *c, const char *word)
{
    const char *best = NULL, *name = word + strspn(word, "-");
    size_t least = strlen(name) / 3 + 2;
    for (const struct cli_flag *f = c->cmd ? command_flags(c->cmd) : NULL; f && f->name; f++)
        guess_one(name, f->name, &best, &least);
    for (const struct cli_flag *f = global_flags; f->name; f++)
        guess_one(name, f->name, &best, &least);
    const char *todo = best ? arena_printf(c->arena, "did you mean --%s?", best) : "see --help";
    return cli_fail(c, CLI_USAGE, todo, "unknown flag '%.60s'", word);
}

static bool value_is_listed(const char *list, const char *value)
{
    struct str rest = str_c(list), one;
    for (bool more = true; more;) {
        more = str_cut(rest, '|', &one, &rest);
        if (str_eq_c(one, value) || (str_ends(one, "=") && str_starts(str_c(value), str_eq_c(one, "jsonpath=") ? "jsonpath=" : "=")))
            return true;
    }
    return false;
}

static int take_flag(struct cli *c, int *i, int argc, char **argv)
{
    const char *word = argv[*i], *value = NULL;
    const struct cli_flag *f;
    if (word[1] == '-') {
        size_t n = strcspn(word + 2, "=");
        f = flag_of(c, word + 2, n, 0);
        value = word[2 + n] == '=' ? word + 3 + n : NULL;
    } else {
        f = flag_of(c, "", 0, word[1]);
        value = word[2] ? word + 2 + (word[2] == '=') : NULL;
    }
    if (!f)
        return unknown_flag(c, word);
    if (!f->arg && value)
        return cli_fail(c, CLI_USAGE, NULL, "--%s takes no value", f->name);
    if (f->arg && !value) {
        if (*i + 1 >= argc)
            return cli_fail(c, CLI_USAGE, NULL, "--%s needs a value (%s)", f->name, f->arg);
        value = argv[++*i];
    }
    if (value && f->values && !value_is_listed(f->values, value))
        return cli_fail(c, CLI_USAGE, arena_printf(c->arena, "one of: %s", f->values), "--%s does not take '%.60s'", f->name, value);
    if (c->ngiven == CLI_FLAGS_MAX)
        return cli_fail(c, CLI_USAGE, NULL, "too many flags");
    c->given[c->ngiven++] = (struct cli_given){ f, value ? value : "" };
    return CLI_OK;
}

/* The command's one or two words. *group_help: the group alone was given. */
static int take_command(struct cli *c, int *i, int argc, char **argv, const char **group_help)
{
    const char *word = argv[*i];
    if (!is_group(word)) {
        c->cmd = command_find(NULL, word);
        if (c->cmd)
            return CLI_OK;
        const char *near = command_guess(NULL, word);
        return cli_fail(c, CLI_USAGE, near ? arena_printf(c->arena, "did you mean 'falaj %s'?", near) : "see 'falaj --help'",
                        "unknown command '%.60s'", word);
    }
    bool has_next = *i + 1 < argc && argv[*i + 1][0] != '-';
    if (has_next && (c->cmd = command_find(word, argv[*i + 1]))) {
        ++*i;
        return CLI_OK;
    }
    c->cmd = command_find(NULL, word);      /* "dev" is both a command and a group */
    if (c->cmd && !has_next)
        return CLI_OK;
    if (!has_next) {
        *group_help = word;
        return CLI_OK;
    }
    const char *near = command_guess(word, argv[*i + 1]);
    const char *todo = near ? arena_printf(c->arena, "did you mean 'falaj %s %s'?", word, near)
                            : arena_printf(c->arena, "see 'falaj %s --help'", word);
    return cli_fail(c, CLI_USAGE, todo, "unknown command '%s %.60s'", word, argv[*i + 1]);
}

static const struct {
    const char *name;
    enum out_format format;
} formats[] = { { "table", OUT_TABLE }, { "wide", OUT_WIDE }, { "json", OUT_JSON }, { "yaml", OUT_YAML }, { "csv", OUT_CSV }, { "name", OUT_NAME } };

static int take_globals(struct cli *c)
{
    const char *format = cli_flag(c, "output"), *env = getenv("FALAJ_OUTPUT");
    if (!format && env && *env) {
        format = env;
        if (!value_is_listed("table|wide|json|yaml|csv|name|jsonpath=", format))
            return cli_fail(c, CLI_USAGE, "one of: table wide json yaml csv name", "FALAJ_OUTPUT does not take '%.60s'", format);
    }
    for (size_t i = 0; format && i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(format, formats[i].name) == 0)
            c->format = formats[i].format;
    }
    if (format && str_starts(str_c(format), "jsonpath=")) {
        c->format = OUT_JSONPATH;
        c->jsonpath = format + strlen("jsonpath=");
        if (!output_jsonpath_is_good(c->jsonpath))
            return cli_fail(c, CLI_USAGE, "-o jsonpath='{.items[*].name}', or '{range .items[*]}{.name}{\"\\n\"}{end}'", "'%.60s' is no template that -o jsonpath knows", c->jsonpath);
    }
    const char *no_color = getenv("NO_COLOR");
    c->is_quiet = cli_has(c, "quiet");
    c->is_debug = cli_has(c, "debug");
    c->is_yes = cli_has(c, "yes");
    c->is_color = !cli_has(c, "no-color") && !(no_color && *no_color) && isatty(fileno(c->err));
    return CLI_OK;
}

static int check_count(struct cli *c)
{
    const struct command *cmd = c->cmd;
    if (c->nargs >= cmd->min && c->nargs <= cmd->max)
        return CLI_OK;
    const char *usage = arena_printf(c->arena, "usage: falaj %s%s%s %s", cmd->group ? cmd->group : "", cmd->group ? " " : "", cmd->name, cmd->args);
    if (c->nargs > cmd->max)
        return cli_fail(c, CLI_USAGE, usage, "'%.60s' is one argument too many", c->args[cmd->max]);
    return cli_fail(c, CLI_USAGE, usage, "an argument is missing");
}

/* "-" is standard input, and "-10" a number below zero: no flag has a digit for its letter. */
static bool is_flag(const char *word)
{
    return word[0] == '-' && word[1] && !(word[1] >= '0' && word[1] <= '9');
}

int cli_parse(struct cli *c, int argc, char **argv)
{
    const char *group_help = NULL;
    bool flags_end = false;
    for (int i = 0; i < argc; i++) {
        int rc = CLI_OK;
        if (c->cmd && (c->cmd->how & CMD_HIDDEN) && c->nargs < CLI_ARGS_MAX) {
            c->args[c->nargs++] = argv[i];
        } else if (!flags_end && strcmp(argv[i], "--") == 0 && c->cmd && c->cmd->how & (CMD_SPEC | CMD_WORDS)) {
            c->words = argv + i + 1;
            c->nwords = argc - i - 1;
            break;
        } else if (!flags_end && strcmp(argv[i], "--") == 0) {
            flags_end = true;
        } else if (!flags_end && is_flag(argv[i])) {
            rc = take_flag(c, &i, argc, argv);
        } else if (!c->cmd && !group_help) {
            rc = take_command(c, &i, argc, argv, &group_help);
        } else if (c->nargs == CLI_ARGS_MAX) {
            rc = cli_fail(c, CLI_USAGE, NULL, "too many arguments");
        } else {
            c->args[c->nargs++] = argv[i];
        }
        if (rc != CLI_OK)
            return rc;
    }
    int rc = take_globals(c);
    if (rc != CLI_OK)
        return rc;
    bool wants_help = cli_has(c, "help");
    if (cli_has(c, "version") && !c->cmd)
        c->cmd = command_find(NULL, "version");
    else if (group_help)
        help_group(c->out, group_help);
    else if (!c->cmd)
        help_top(wants_help ? c->out : c->err);
    else if (wants_help)
        help_command(c->out, c->cmd);
    else
        return check_count(c);
    if (!c->cmd && !group_help && !wants_help)
        return CLI_USAGE;
    if (wants_help || group_help)
        c->cmd = NULL;
    return CLI_OK;
}

const char *cli_flag(const struct cli *c, const char *name)
{
    for (int i = c->ngiven; i-- > 0;) {
        if (strcmp(c->given[i].flag->name, name) == 0)
            return c->given[i].value;
    }
    return NULL;
}

bool cli_has(const struct cli *c, const char *name)
{
    return cli_flag(c, name) != NULL;
}

int cli_flag_i64(struct cli *c, const char *name, int64_t min, int64_t max, int64_t *ret)
{
    const char *text = cli_flag(c, name);
    if (!text || str_to_i64(str_c(text), min, max, ret))
        return CLI_OK;
    return cli_fail(c, CLI_USAGE, NULL, "--%s takes a whole number from %lld to %lld, not '%.40s'", name, (long long)min, (long long)max, text);
}
