/* SPDX-License-Identifier: Apache-2.0 */
/* complete.c - completion scripts for bash, zsh and fish, printed from the table of commands.
 *
 * The scripts hold plain lists of commands and flags; names of objects, profiles and values of flags are asked from `falaj
 * __complete`
 * (complete_names.c), and where that knows none a file is meant. */
#include "cli/command.h"
#include "cli/spec_flags.h"

static void first_words(FILE *out)
{
    for (size_t i = 0; i < command_count; i++) {
        if (!command_table[i].group && !(command_table[i].how & CMD_HIDDEN))
            fprintf(out, "%s ", command_table[i].name);
    }
    for (const struct command_group *g = command_groups; g->name; g++) {
        if (!command_find(NULL, g->name))
            fprintf(out, "%s ", g->name);
    }
}

static void verbs_of(FILE *out, const char *group)
{
    for (size_t i = 0; i < command_count; i++) {
        if (command_table[i].group && strcmp(command_table[i].group, group) == 0)
            fprintf(out, "%s ", command_table[i].name);
    }
}

static void flags_of(FILE *out, const struct cli_flag *list)
{
    for (const struct cli_flag *f = list; f && f->name; f++)
        fprintf(out, "--%s ", f->name);
}

/* The body of a shell function in the common part of bash and zsh: sets `words` from `first` and `second`. */
static void shell_cases(FILE *out, const char *first, const char *second)
{
    fprintf(out, "    case \"%s\" in\n", first);
    for (const struct command_group *g = command_groups; g->name; g++) {
        fprintf(out, "        %s) verbs='", g->name);
        verbs_of(out, g->name);
        fputs("' ;;\n", out);
    }
    fputs("    esac\n", out);
    fprintf(out, "    case \"%s %s\" in\n", first, second);
    for (size_t i = 0; i < command_count; i++) {
        const struct command *cmd = &command_table[i];
        if (!command_flags(cmd))
            continue;
        if (cmd->group)
            fprintf(out, "        '%s %s'*) flags='", cmd->group, cmd->name);
        else
            fprintf(out, "        '%s '*) flags='", cmd->name);
        flags_of(out, command_flags(cmd));
        fputs("' ;;\n", out);
    }
    fputs("    esac\n", out);
}

static void print_bash(FILE *out)
{
    fputs("# bash completion for falaj; load it with: source <(falaj completion bash)\n_falaj() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} first=${COMP_WORDS[1]:-} second=${COMP_WORDS[2]:-} verbs= flags=\n", out);
    shell_cases(out, "$first", "$second");
    fputs("    if [[ $cur == -* ]]; then\n        mapfile -t COMPREPLY < <(compgen -W \"$flags ", out);
    flags_of(out, global_flags);
    fputs("\" -- \"$cur\")\n    elif [[ $COMP_CWORD -eq 1 ]]; then\n        mapfile -t COMPREPLY < <(compgen -W '", out);
    first_words(out);
    fputs("' -- \"$cur\")\n    elif [[ $COMP_CWORD -eq 2 && -n $verbs ]]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$verbs\" -- \"$cur\")\n"
          "    else\n        mapfile -t COMPREPLY < <(\"${COMP_WORDS[0]}\" __complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
          "        if (( ${#COMPREPLY[@]} )); then\n            printf -v COMPREPLY '%q\\n' \"${COMPREPLY[@]}\"\n"
          "            mapfile -t COMPREPLY <<<\"${COMPREPLY%$'\\n'}\"\n"
          "        else\n            mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n        fi\n    fi\n}\n"
          "complete -F _falaj falaj\n", out);
}

static void print_zsh(FILE *out)
{
    fputs("#compdef falaj\n# zsh completion for falaj; put this file as _falaj into a folder of $fpath\n_falaj() {\n"
          "    local cur=${words[CURRENT]} first=${words[2]:-} second=${words[3]:-} verbs= flags=\n", out);
    shell_cases(out, "$first", "$second");
    fputs("    if [[ $cur == -* ]]; then\n        compadd -- ${=flags} ", out);
    flags_of(out, global_flags);
    fputs("\n    elif (( CURRENT == 2 )); then\n        compadd -- ", out);
    first_words(out);
    fputs("\n    elif (( CURRENT == 3 )) && [[ -n $verbs ]]; then\n        compadd -- ${=verbs}\n    else\n"
          "        local -a names=(${(f)\"$(${words[1]} __complete ${(@)words[2,CURRENT]} 2>/dev/null)\"})\n"
          "        if (( $#names )); then\n            compadd -a names\n"
          "        else\n            _files\n        fi\n    fi\n}\n"
          /* As a file of $fpath this text is the function's first call, which must complete, too. */
          "if [[ $funcstack[1] == _falaj ]]; then\n    _falaj \"$@\"\nelse\n    compdef _falaj falaj\nfi\n", out);
}

/* A text inside single quotes of fish. */
static void fish_text(FILE *out, const char *s)
{
    fputc('\'', out);
    for (; *s; s++) {
        if (*s == '\'' || *s == '\\')
            fputc('\\', out);
        fputc(*s, out);
    }
    fputc('\'', out);
}

static void fish_flags(FILE *out, const char *condition, const struct cli_flag *list)
{
    for (const struct cli_flag *f = list; f && f->name; f++) {
        fprintf(out, "complete -c falaj %s -l %s", condition, f->name);
        if (f->letter)
            fprintf(out, " -s %c", f->letter);
        if (f->arg)
            fputs(" -r", out);
        if (f->values) {
            fputs(" -x -a '", out);
            for (const char *p = f->values; *p; p++)
                fputc(*p == '|' ? ' ' : *p, out);
            fputc('\'', out);
        }
        fputs(" -d ", out);
        fish_text(out, f->doc);
        fputc('\n', out);
    }
}

static void print_fish(FILE *out)
{
    fputs("# fish completion for falaj; write it to ~/.config/fish/completions/falaj.fish\n", out);
    for (const struct command_group *g = command_groups; g->name; g++) {
        fprintf(out, "complete -c falaj -n __fish_use_subcommand -f -a %s -d ", g->name);
        fish_text(out, g->doc);
        fputc('\n', out);
    }
    for (size_t i = 0; i < command_count; i++) {
        const struct command *cmd = &command_table[i];
        char condition[200];
        if (cmd->how & CMD_HIDDEN)
            continue;
        if (cmd->group) {
            fprintf(out, "complete -c falaj -n '__fish_seen_subcommand_from %s' -f -a %s -d ", cmd->group, cmd->name);
            snprintf(condition, sizeof(condition), "-n '__fish_seen_subcommand_from %s; and __fish_seen_subcommand_from %s'", cmd->group, cmd->name);
        } else {
            fprintf(out, "complete -c falaj -n __fish_use_subcommand -f -a %s -d ", cmd->name);
            snprintf(condition, sizeof(condition), "-n '__fish_seen_subcommand_from %s'", cmd->name);
        }
        fish_text(out, cmd->doc);
        fputc('\n', out);
        fish_flags(out, condition, command_flags(cmd));
    }
    fish_flags(out, "", global_flags);
    fputs("complete -c falaj -n 'not __fish_use_subcommand' "
          "-a '(falaj __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'\n", out);
}

int cmd_completion(struct cli *c)
{
    if (strcmp(c->args[0], "bash") == 0)
        print_bash(c->out);
    else if (strcmp(c->args[0], "zsh") == 0)
        print_zsh(c->out);
    else if (strcmp(c->args[0], "fish") == 0)
        print_fish(c->out);
    else
        return cli_fail(c, CLI_USAGE, "one of: bash zsh fish", "no completion for the shell '%.40s'", c->args[0]);
    return CLI_OK;
}
