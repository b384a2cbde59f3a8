/* SPDX-License-Identifier: Apache-2.0 */
/* man.c - manual pages in roff (man macros), written from the table of commands.
 *
 * falaj(1) lists everything; each command has a page of its own, falaj-job-submit(1). Text is escaped: a backslash and a leading
 * dot or quote mean something to roff. */
#include <errno.h>
#include <sys/stat.h>
#include "cli/command.h"
#include "cli/spec_flags.h"

static void roff_text(FILE *out, const char *s)
{
    for (bool at_start = true; *s; s++) {
        if (at_start && (*s == '.' || *s == '\''))
            fputs("\\&", out);
        if (*s == '\\')
            fputs("\\e", out);
        else if (*s == '-')
            fputs("\\-", out);
        else
            fputc(*s, out);
        at_start = *s == '\n';
    }
}

static void roff_flags(FILE *out, const char *title, const struct cli_flag *list)
{
    if (!list)
        return;
    fprintf(out, ".SH %s\n", title);
    for (const struct cli_flag *f = list; f->name; f++) {
        fputs(".TP\n", out);
        if (f->letter)
            fprintf(out, "\\fB\\-%c\\fR, ", f->letter);
        fputs("\\fB\\-\\-", out);
        roff_text(out, f->name);
        fputs("\\fR", out);
        if (f->arg)
            fprintf(out, " \\fI%s\\fR", f->arg);
        fputc('\n', out);
        roff_text(out, f->doc);
        if (f->values) {
            fputs(" (", out);
            roff_text(out, f->values);
            fputc(')', out);
        }
        fputs(".\n", out);
    }
}

static void page_name(const struct command *cmd, char out[96])
{
    snprintf(out, 96, "falaj-%s%s%s", cmd->group ? cmd->group : "", cmd->group ? "-" : "", cmd->name);
}

static void roff_exit_status(FILE *out)
{
    fputs(".SH EXIT STATUS\n.nf\n", out);
    help_exit_codes(out);
    fputs(".fi\n", out);
}

void man_command(FILE *out, const struct command *cmd)
{
    char name[96];
    page_name(cmd, name);
    fprintf(out, ".\\\" SPDX-License-Identifier: Apache-2.0\n.TH \"%s\" 1 \"\" \"falaj %s\" \"Falaj\"\n.SH NAME\n", name, FALAJ_VERSION);
    roff_text(out, name);
    fputs(" \\- ", out);
    roff_text(out, cmd->doc);
    fprintf(out, "\n.SH SYNOPSIS\n\\fBfalaj %s%s%s\\fR ", cmd->group ? cmd->group : "", cmd->group ? " " : "", cmd->name);
    roff_text(out, cmd->args);
    fputs(" [FLAGS]\n.SH DESCRIPTION\n", out);
    roff_text(out, cmd->doc);
    fputs(".\n", out);
    if (cmd->more) {
        fputs(".PP\n.nf\n", out);
        roff_text(out, cmd->more);
        fputs("\n.fi\n", out);
    }
    roff_flags(out, "FLAGS", command_flags(cmd));
    roff_flags(out, "FLAGS OF EVERY COMMAND", global_flags);
    roff_exit_status(out);
    fputs(".SH SEE ALSO\n\\fBfalaj\\fR(1)\n", out);
}

static void man_top(FILE *out)
{
    fprintf(out, ".\\\" SPDX-License-Identifier: Apache-2.0\n.TH falaj 1 \"\" \"falaj %s\" \"Falaj\"\n.SH NAME\n"
            "falaj \\- train and serve models on machines that keep data where it may be\n"
            ".SH SYNOPSIS\n\\fBfalaj\\fR COMMAND [ARGUMENTS] [FLAGS]\n.SH COMMANDS\n", FALAJ_VERSION);
    for (size_t i = 0; i < command_count; i++) {
        char name[96];
        if (command_table[i].how & CMD_HIDDEN)
            continue;
        page_name(&command_table[i], name);
        fputs(".TP\n\\fB", out);
        roff_text(out, name);
        fputs("\\fR(1)\n", out);
        roff_text(out, command_table[i].doc);
        fputs(".\n", out);
    }
    roff_flags(out, "FLAGS OF EVERY COMMAND", global_flags);
    fputs(".SH ENVIRONMENT\n.TP\n\\fBFALAJ_URL\\fR, \\fBFALAJ_TOKEN\\fR, \\fBFALAJ_PROFILE\\fR, \\fBFALAJ_OUTPUT\\fR\n"
          "Stronger than the profile, weaker than a flag.\n.TP\n\\fBFALAJ_CACERT\\fR\n"
          "PEM file of the authorities to trust, and no others, as \\-\\-ca\\-cert.\n"
          ".TP\n\\fBhttp_proxy\\fR, \\fBHTTPS_PROXY\\fR, \\fBALL_PROXY\\fR, \\fBNO_PROXY\\fR\n"
          "Proxies and the hosts to reach without one, "
          "read as \\fBcurl\\fR(1) does: each in lower case too, and http_proxy in lower case only.\n"
          ".TP\n\\fBNO_COLOR\\fR\nNo colour.\n"
          ".TP\n\\fBTRACEPARENT\\fR\nThe W3C trace context that calls are part of, as pipelines set it for what they run.\n"
          ".SH FILES\n.TP\n\\fI~/.config/falaj/config\\fR\nProfiles: URL, token and authorities (ca_cert); mode 0600.\n"
          ".TP\n\\fI~/.cache/falaj/\\fR\nNames for completion, 30 s old at most; mode 0600.\n", out);
    roff_exit_status(out);
}

static int write_page(struct cli *c, const char *name, const struct command *cmd)
{
    const char *path = arena_printf(c->arena, "%s/%s.1", c->args[0], name);
    FILE *out = fopen(path, "we");
    if (!out)
        return cli_fail(c, CLI_FAILED, NULL, "%s cannot be written: %s", path, strerror(errno));
    if (cmd)
        man_command(out, cmd);
    else
        man_top(out);
    bool is_bad = ferror(out) != 0;
    if (fclose(out) != 0 || is_bad)
        return cli_fail(c, CLI_FAILED, NULL, "%s cannot be written: %s", path, strerror(errno));
    return CLI_OK;
}

int cmd_man(struct cli *c)
{
    if (mkdir(c->args[0], 0755) < 0 && errno != EEXIST)
        return cli_fail(c, CLI_FAILED, NULL, "%s cannot be made: %s", c->args[0], strerror(errno));
    int rc = write_page(c, "falaj", NULL), count = 1;
    for (size_t i = 0; rc == CLI_OK && i < command_count; i++) {
        char name[96];
        if (command_table[i].how & CMD_HIDDEN)
            continue;
        count++;
        page_name(&command_table[i], name);
        rc = write_page(c, name, &command_table[i]);
    }
    if (rc == CLI_OK)
        cli_note(c, "%d pages written to %s", count, c->args[0]);
    return rc;
}
