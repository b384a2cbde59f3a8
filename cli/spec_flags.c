/* SPDX-License-Identifier: Apache-2.0 */
/* spec_flags.c - flags from schemas. They are written once, for the one command that has them; the tool has one thread. */
#include "cli/spec_flags.h"
#include "cli/client.h"
#include "core/base/assert.h"
#include "core/wire/job_type.h"

/* A text of more than LONG_TEXT characters may be a file, as @FILE. */
enum { FLAGS_MAX = 128, NAME_MAX_BYTES = 48, DOC_MAX = 640, LIST_MAX = 256, LONG_TEXT = 4096 };

struct spec_flag {
    char name[NAME_MAX_BYTES], doc[DOC_MAX], values[LIST_MAX];
};

static void add_word(char *list, size_t max, const char *word)
{
    size_t n = strlen(list);
    snprintf(list + n, max - n, "%s%s", n ? "|" : "", word);
}

static void name_of(const struct field *f, char name[NAME_MAX_BYTES])
{
    size_t n = strlen(f->name);
    if (f->type == FT_UUID && n > 3 && strcmp(f->name + n - 3, "_id") == 0)
        n -= 3;
    ASSERT(n < NAME_MAX_BYTES);
    for (size_t i = 0; i < n; i++)
        name[i] = f->name[i] == '_' ? '-' : f->name[i];
    name[n] = '\0';
}

static const char *arg_of(const struct field *f)
{
    switch (f->type) {
    case FT_UUID: return "NAME";
    case FT_ENUM: return "WORD";
    case FT_F64: return "R";
    case FT_I32:
    case FT_I64: return "N";
    case FT_LIST: return f->item == FT_STR ? "TEXT,TEXT" : "N,N";
    case FT_BOOL: return "true|false";
    case FT_STR: return field_max(f) > LONG_TEXT ? "@FILE" : "TEXT";
    default: return "TEXT";
    }
}

static struct cli_flag flag_from(const struct field *f, struct spec_flag *room)
{
    const char *before = f->dflt ? " (" : "", *after = f->dflt ? ")" : "";
    int n = snprintf(room->doc, sizeof room->doc, "%s%s%s%s", f->doc, before, f->dflt ? f->dflt : "", after);
    ASSERT(n < (int)sizeof room->doc);
    for (int i = 0; f->type == FT_ENUM && f->names[i]; i++)
        add_word(room->values, sizeof room->values, f->names[i]);
    return (struct cli_flag){ room->name, 0, arg_of(f), room->doc, f->type == FT_ENUM ? room->values : NULL };
}

/* n: there is none. */
static size_t flag_at(const struct cli_flag *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0)
            return i;
    return n;
}

/* A member that two kinds share has one flag: it says what it is for the first, and takes the words of all. The API knows
 * which are whose. */
static void add_words_of(const struct field *f, struct spec_flag *room)
{
    for (int i = 0; f->type == FT_ENUM && f->names[i]; i++) {
        struct str rest = str_c(room->values), one;
        bool is_there = false;
        for (bool more = true; more && !is_there;) {
            more = str_cut(rest, '|', &one, &rest);
            is_there = str_eq_c(one, f->names[i]);
        }
        if (!is_there)
            add_word(room->values, sizeof room->values, f->names[i]);
    }
}

static size_t add_schema(const struct schema *s, struct cli_flag *flags, size_t n, struct spec_flag *rooms)
{
    for (size_t i = 0; i < s->nfields; i++) {
        const struct field *f = &s->fields[i];
        ASSERT(n < FLAGS_MAX);
        name_of(f, rooms[n].name);
        size_t at = flag_at(flags, n, rooms[n].name);
        if (f->flags & F_DERIVED)
            continue;
        if (at < n && flags[at].values)
            add_words_of(f, &rooms[at]);
        if (at == n) {
            flags[n] = flag_from(f, &rooms[n]);
            n++;
        }
    }
    return n;
}

const struct cli_flag *command_flags(const struct command *cmd)
{
    static struct cli_flag flags[FLAGS_MAX + 1];
    static struct spec_flag rooms[FLAGS_MAX];
    static char kinds[LIST_MAX], kind_doc[DOC_MAX];
    if (!(cmd->how & CMD_SPEC) || flags[0].name)
        return cmd->how & CMD_SPEC ? flags : cmd->flags;
    size_t n = 1;
    flags[0].name = "kind";
    for (int i = 0; i < JOB_KIND_COUNT; i++)
        if (job_is_submitted(i)) {
            add_word(kinds, sizeof kinds, job_types[i].name);
            n = add_schema(job_types[i].spec, flags, n, rooms);
        }
    snprintf(kind_doc, sizeof kind_doc, "What it does (%s)", job_types[JOB_KIND_USUAL].name);
    flags[0] = (struct cli_flag){ "kind", 0, "KIND", kind_doc, kinds };
    for (const struct cli_flag *f = cmd->flags; f->name; f++) {
        ASSERT(n < FLAGS_MAX);
        flags[n++] = *f;
    }
    return flags;
}

const struct noun *noun_by_prefix(struct str prefix)
{
    for (size_t i = 0; i < command_count; i++) {
        const struct noun *noun = command_table[i].noun;
        if (noun && str_eq(str_n(noun->prefix, strlen(noun->prefix) - 1), prefix))
            return noun;
    }
    return NULL;
}

void spec_words(const char *value, struct buf *b)
{
    struct str rest = str_c(value), word;
    buf_add_char(b, '[');
    for (bool more = rest.len > 0, first = true; more; first = false) {
        more = str_cut(rest, ',', &word, &rest);
        buf_add_c(b, first ? "" : ",");
        buf_add_json(b, word);
    }
    buf_add_char(b, ']');
}

static int bad_value(struct cli *c, const char *name, const char *what, const char *value)
{
    return cli_fail(c, CLI_USAGE, NULL, "--%s takes %s, not '%.40s'", name, what, value);
}

static int add_value(struct cli *c, const struct field *f, const char *name, const char *value, struct buf *b)
{
    double number;
    int rc;
    switch (f->type) {
    case FT_I32:
    case FT_I64:
    case FT_F64:
        if (!str_to_f64(str_c(value), &number))
            return bad_value(c, name, "a number", value);
        buf_add_c(b, value);
        return CLI_OK;
    case FT_BOOL:
        if (strcmp(value, "true") && strcmp(value, "false"))
            return bad_value(c, name, "true or false", value);
        buf_add_c(b, value);
        return CLI_OK;
    case FT_LIST:
        if (f->item == FT_STR) {
            spec_words(value, b);
            return CLI_OK;
        }
        if (strspn(value, "0123456789,") != strlen(value))
            return bad_value(c, name, "numbers like 64,32", value);
        buf_printf(b, "[%s]", value);
        return CLI_OK;
    case FT_UUID:
        if ((rc = api_resolve(c, noun_by_prefix(str_c(f->prefix)), value, &value)) != CLI_OK)
            return rc;
        break;
    default:
        break;
    }
    struct str text = str_c(value);
    struct err e = { 0 };
    if (f->type == FT_STR && field_max(f) > LONG_TEXT && value[0] == '@' &&
        cli_read_file(c->arena, value + 1, (size_t)field_max(f), &text, &e) != ERR_OK)
        return cli_fail_err(c, &e, NULL);
    buf_add_json(b, text);
    return CLI_OK;
}

/* A flag of another kind's spec would be lost without a word. */
static int refuse_foreign(struct cli *c, const struct job_type *type)
{
    for (int g = 0; g < c->ngiven; g++) {
        bool is_own = false, is_of_spec = false;
        for (int k = 0; k < JOB_KIND_COUNT; k++)
            for (size_t i = 0; i < job_types[k].spec->nfields; i++) {
                char name[NAME_MAX_BYTES];
                name_of(&job_types[k].spec->fields[i], name);
                if (strcmp(name, c->given[g].flag->name) == 0 && job_is_submitted(k)) {
                    is_of_spec = true;
                    is_own = is_own || &job_types[k] == type;
                }
            }
        if (is_of_spec && !is_own)
            return cli_fail(c, CLI_USAGE, NULL, "a job of kind %s has no --%s", type->name, c->given[g].flag->name);
    }
    return CLI_OK;
}

/* The member that the words behind "--" are: the list of words that the kind requires. NULL: it has none. */
static const struct field *words_of(const struct job_type *type)
{
    for (size_t i = 0; i < type->spec->nfields; i++) {
        const struct field *f = &type->spec->fields[i];
        if (f->flags & F_REQ && f->type == FT_LIST && f->item == FT_STR)
            return f;
    }
    return NULL;
}

static void add_words(const struct cli *c, struct buf *b)
{
    for (int i = 0; i < c->nwords; i++) {
        buf_add_char(b, i ? ',' : '[');
        buf_add_json(b, str_c(c->words[i]));
    }
    buf_add_char(b, ']');
}

int spec_from_flags(struct cli *c, const char *kind, struct buf *b)
{
    const struct job_type *type = job_type_find(str_c(kind));
    const char *set = cli_flag(c, "set"), *before = "";
    const struct field *words = c->nwords ? words_of(type) : NULL;
    int rc = refuse_foreign(c, type);
    if (c->nwords && !words)
        return cli_fail(c, CLI_USAGE, NULL, "a job of kind %s takes no words behind --", kind);
    buf_add_char(b, '{');
    for (size_t i = 0; rc == CLI_OK && i < type->spec->nfields; i++) {
        const struct field *f = &type->spec->fields[i];
        char name[NAME_MAX_BYTES];
        name_of(f, name);
        const char *value = f->flags & F_DERIVED ? NULL : cli_flag(c, name);
        if (f == words) {
            buf_printf(b, "%s\"%s\":", before, f->name);
            add_words(c, b);
            before = ",";
            continue;
        }
        if (!value && f->flags & F_REQ && !set)
            return cli_fail(c, CLI_USAGE, arena_printf(c->arena, "--%s %s, or the whole request with --file", name, arg_of(f)),
                            "a job of kind %s needs --%s", kind, name);
        if (!value)
            continue;
        buf_printf(b, "%s\"%s\":", before, f->name);
        rc = add_value(c, f, name, value, b);
        before = ",";
    }
    struct str extra = str_trim(str_c(set));
    if (rc == CLI_OK && set && (extra.len < 2 || extra.ptr[0] != '{' || extra.ptr[extra.len - 1] != '}'))
        return cli_fail(c, CLI_USAGE, "--set '{\"early_stop_patience\":3}'", "--set takes a JSON object");
    if (extra.len > 2) {
        buf_add_c(b, before);
        buf_add_str(b, str_n(extra.ptr + 1, extra.len - 2));
    }
    buf_add_char(b, '}');
    return rc;
}
