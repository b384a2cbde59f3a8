/* SPDX-License-Identifier: Apache-2.0 */
/* config_print.c - the settings as help text, as a table for the documents, and as a file of present values. */
#include "core/table/config_int.h"
#include "core/base/str.h"

#include <inttypes.h>

const char *config_type_name(enum config_type t)
{
    static const char *const names[] = { "an integer", "a size in bytes (k, m, g)", "a duration in milliseconds (ms, s, m, h, d)",
                                         "true or false", "text", "a word" };
    return names[t];
}

static void print_range(const struct config_row *r, FILE *out)
{
    if (r->type == CT_ENUM)
        fprintf(out, "%s", r->values);
    else if (r->type != CT_BOOL && r->type != CT_STR && (r->min || r->max))
        fprintf(out, "%" PRId64 " to %" PRId64, r->min, r->max);
}

void config_help(FILE *out)
{
    char env[CONFIG_ENV_MAX];
    fprintf(out, "Settings: --KEY=VALUE, or the environment variable, or `KEY = VALUE` in the file of --config=PATH.\n");
    for (size_t i = 0; i < config_nrows; i++) {
        const struct config_row *r = &config_rows[i];
        config_env_name(r, env);
        fprintf(out, "\n  %s  (%s)\n      %s.\n      %s", r->key, env, r->doc, config_type_name(r->type));
        if (r->type == CT_ENUM || r->min || r->max) {
            fprintf(out, ": ");
            print_range(r, out);
        }
        fprintf(out, "; default \"%s\"%s\n", r->dflt, r->flags & CFG_RELOAD ? "; read again on SIGHUP" : "");
    }
}

/* Bars would cut the table cell. */
static void print_cell(const char *s, FILE *out)
{
    for (; *s; s++) {
        if (*s == '|')
            fputc('\\', out);
        fputc(*s, out);
    }
}

void config_print_markdown(FILE *out)
{
    static const char *const types[] = { "integer", "size", "duration", "bool", "text", "enum" };
    char env[CONFIG_ENV_MAX];
    fprintf(out, "# Settings\n\nGiven as `--KEY=VALUE`, as environment variable or as `KEY = VALUE` in the file of `--config=PATH`, in "
                 "this order of strength.\n\n"
                 "| Key | Environment | Type | Default | Range | Meaning |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < config_nrows; i++) {
        const struct config_row *r = &config_rows[i];
        config_env_name(r, env);
        fprintf(out, "| `%s` | `%s` | %s%s%s | `%s` | ", r->key, env, types[r->type], r->flags & CFG_SECRET ? ", secret" : "",
                r->flags & CFG_RELOAD ? ", reload" : "", r->dflt);
        if (r->type == CT_ENUM)
            print_cell(r->values, out);
        else
            print_range(r, out);
        fprintf(out, " | ");
        print_cell(r->doc, out);
        fprintf(out, " |\n");
    }
}

void config_print(const struct config *c, FILE *out)
{
    for (size_t i = 0; i < config_nrows; i++) {
        const struct config_row *r = &config_rows[i];
        const char *at = (const char *)c + r->offset;
        struct str rest = str_c(r->values), head = STR("");
        fprintf(out, "%s = ", r->key);
        switch (r->type) {
        case CT_BOOL:
            fprintf(out, "%s\n", *(const bool *)at ? "true" : "false");
            break;
        case CT_STR:
            fprintf(out, "%s\n", r->flags & CFG_SECRET && **(const char *const *)at ? "***" : *(const char *const *)at);
            break;
        case CT_ENUM:
            for (int k = 0; k <= *(const int *)at; k++)
                str_cut(rest, '|', &head, &rest);
            fprintf(out, "%.*s\n", STR_ARG(head));
            break;
        default:
            fprintf(out, "%" PRId64 "\n", *(const int64_t *)at);
        }
    }
}
