/* SPDX-License-Identifier: Apache-2.0 */
/* help.c - help texts from the table of commands. */
#include "cli/command.h"
#include "cli/spec_flags.h"

static const char *full_name(const struct command *cmd, char out[80])
{
    snprintf(out, 80, "%s%s%s", cmd->group ? cmd->group : "", cmd->group ? " " : "", cmd->name);
    return out;
}

static void print_flags(FILE *out, const struct cli_flag *list)
{
    for (const struct cli_flag *f = list; f && f->name; f++) {
        char left[80], letter[8] = "    ";
        if (f->letter)
            snprintf(letter, sizeof(letter), "-%c, ", f->letter);
        snprintf(left, sizeof(left), "%s--%s%s%s", letter, f->name, f->arg ? " " : "", f->arg ? f->arg : "");
        fprintf(out, "  %-28s %s%s%s%s\n", left, f->doc, f->values ? " (" : "", f->values ? f->values : "", f->values ? ")" : "");
    }
}

void help_group(FILE *out, const char *group)
{
    fprintf(out, "Usage: falaj %s COMMAND\n\nCommands:\n", group);
    for (size_t i = 0; i < command_count; i++) {
        const struct command *cmd = &command_table[i];
        char name[80];
        if (cmd->group && strcmp(cmd->group, group) == 0)
            fprintf(out, "  %-24s %s\n", full_name(cmd, name), cmd->doc);
    }
    fprintf(out, "\n'falaj %s COMMAND --help' tells more.\n", group);
}

void help_top(FILE *out)
{
    fputs("falaj - train and serve models on machines that keep data where it may be.\n\n"
          "Usage: falaj COMMAND [ARGUMENTS] [FLAGS]\n\nCommands:\n", out);
    for (size_t i = 0; i < command_count; i++) {
        if (!command_table[i].group && !(command_table[i].how & CMD_HIDDEN))
            fprintf(out, "  %-14s %s\n", command_table[i].name, command_table[i].doc);
    }
    fputs("\nGroups of commands:\n", out);
    for (const struct command_group *g = command_groups; g->name; g++)
        fprintf(out, "  %-14s %s\n", g->name, g->doc);
    fputs("\nFlags of every command:\n", out);
    print_flags(out, global_flags);
    fputs("\n'falaj COMMAND --help' tells more; start with 'falaj dev'.\n", out);
}

void help_command(FILE *out, const struct command *cmd)
{
    char name[80];
    fprintf(out, "%s.\n\nUsage: falaj %s%s%s%s\n", cmd->doc, full_name(cmd, name), *cmd->args ? " " : "", cmd->args,
            command_flags(cmd) ? " [FLAGS]" : "");
    if (cmd->more)
        fprintf(out, "\n%s\n", cmd->more);
    if (command_flags(cmd)) {
        fputs("\nFlags:\n", out);
        print_flags(out, command_flags(cmd));
    }
    fputs("\nFlags of every command:\n", out);
    print_flags(out, global_flags);
}

void help_exit_codes(FILE *out)
{
    static const struct {
        int number;
        const char *doc;
    } rows[] = {
#define EXIT(name, number, doc) { (number), (doc) },
#include "cli/exit_code.def"
#undef EXIT
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        fprintf(out, "%4d  %s\n", rows[i].number, rows[i].doc);
}

int cmd_help(struct cli *c)
{
    if (c->nargs == 0) {
        help_top(c->out);
        return CLI_OK;
    }
    if (strcmp(c->args[0], "exit-codes") == 0) {
        help_exit_codes(c->out);
        return CLI_OK;
    }
    const struct command *cmd = c->nargs == 2 ? command_find(c->args[0], c->args[1]) : command_find(NULL, c->args[0]);
    if (cmd) {
        help_command(c->out, cmd);
        return CLI_OK;
    }
    for (const struct command_group *g = command_groups; g->name; g++) {
        if (c->nargs == 1 && strcmp(g->name, c->args[0]) == 0) {
            help_group(c->out, g->name);
            return CLI_OK;
        }
    }
    const char *near = command_guess(NULL, c->args[0]);
    return cli_fail(c, CLI_USAGE, near ? arena_printf(c->arena, "did you mean 'falaj help %s'?", near) : "see 'falaj --help'",
                    "there is no help on '%.60s'", c->args[0]);
}
