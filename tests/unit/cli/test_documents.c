/* SPDX-License-Identifier: Apache-2.0 */
/* test_documents.c - every `falaj …` that a page, a help text or an error's advice tells a person to type is one that the
 * parser takes: the command is there, its flags are, and in a block of code its arguments are as many as it wants.
 *
 * A block of code is a line indented by four or within ```; lines that end with \, | or && go on. In running text a span
 * in backticks may leave arguments out. Decision records and generated pages are not read: the first are never rewritten,
 * the second come from programs. */
#include "with_cli.h"
#include <glob.h>
#include <stdio.h>
#include "core/wire/job_type.h"
#include "shell_words.h"

enum { PAGE_MAX = 1 << 20, COMMAND_MAX = 16384 };

struct reading {
    const char *page;
    int line;
    bool is_prose;          /* arguments may be left out */
    int seen, wrong;
    bool is_quiet;          /* the reader's own test */
};

static void complain(struct reading *r, const char *command, const char *why)
{
    r->wrong++;
    if (!r->is_quiet)
        print_error("%s:%d: falaj %s\n    %s", r->page, r->line, command, why);
}

static bool is_placeholder(const char *word)
{
    return *word == '[' || strchr(word, '%') || (strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == strlen(word) && *word);
}

/* What stands before the program itself: sudo, assignments, a user. */
static int program_at(const struct shell_line *line)
{
    int i = 0;
    for (; i < line->count; i++) {
        const char *word = line->words[i], *name = strrchr(word, '/');
        if (strcmp(name ? name + 1 : word, "falaj") == 0)
            return i;
        bool is_before = strcmp(word, "sudo") == 0 || strcmp(word, "-u") == 0 || strcmp(word, "time") == 0 || strchr(word, '=');
        if (!is_before && !(i > 0 && strcmp(line->words[i - 1], "-u") == 0))
            return -1;
    }
    return -1;
}

/* The flag of a member that the kind requires and that is not given, or NULL. */
static const char *lacking(const struct cli *c)
{
    static char name[64];
    const char *kind = cli_flag(c, "kind");
    const struct job_type *type = job_type_find(str_c(kind ? kind : "train"));
    if (cli_has(c, "set") || cli_has(c, "spec") || cli_has(c, "file"))
        return NULL;
    for (size_t i = 0; i < type->spec->nfields; i++) {
        const struct field *f = &type->spec->fields[i];
        bool is_words = f->type == FT_LIST && c->nwords;
        size_t n = strlen(f->name), cut = f->type == FT_UUID && n > 3 && strcmp(f->name + n - 3, "_id") == 0 ? 3 : 0;
        snprintf(name, sizeof(name), "%.*s", (int)(n - cut), f->name);
        for (char *at = name; (at = strchr(at, '_'));)
            *at = '-';
        if (f->flags & F_REQ && !(f->flags & F_DERIVED) && !is_words && !cli_has(c, name))
            return name;
    }
    return NULL;
}

static void take(void *ctx, struct shell_line *line)
{
    struct reading *r = ctx;
    int at = program_at(line);
    if (at < 0 || line->count == at + 1)
        return;
    char **words = line->words + at + 1;
    int n = line->count - at - 1;
    char text[512] = "";
    for (int i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "", words[i]);
    if (is_placeholder(words[0]) || (n > 1 && r->is_prose && is_placeholder(words[1])))
        return;
    r->seen++;
    struct with_cli w;
    with_cli_init(&w);
    if (cli_parse(&w.c, n, words) != CLI_OK) {
        const char *why = with_cli_err(&w);
        bool may_lack = r->is_prose || line->is_elided;
        bool is_part = strstr(why, "an argument is missing") || strstr(why, "needs a value") ||
                       (!w.c.cmd && strstr(why, "Usage: falaj COMMAND"));
        if (!may_lack || !is_part)
            complain(r, text, why);
    } else if (!r->is_prose && !line->is_elided && w.c.cmd && w.c.cmd->how & CMD_SPEC && lacking(&w.c))
        complain(r, text, arena_printf(w.c.arena, "a job of this kind needs --%s", lacking(&w.c)));
    with_cli_release(&w);
}

static void read_commands(struct reading *r, const char *text, bool is_prose)
{
    static char room[COMMAND_MAX];
    struct shell_read in = { .at = text, .room = room, .room_end = room + sizeof(room) - 1, .use = take, .ctx = r };
    r->is_prose = is_prose;
    shell_commands(&in, 0, 0);
}

static bool goes_on(const char *line)
{
    size_t n = strlen(line);
    while (n > 0 && strchr(" \t", line[n - 1]))
        n--;
    return n > 0 && (line[n - 1] == '\\' || line[n - 1] == '|' || (n > 1 && memcmp(line + n - 2, "&&", 2) == 0));
}

/* Spans between backticks of what is no code; a span may go on in the next line. \| is how a table writes |. */
static void read_spans(struct reading *r, char *prose, const int *lines)
{
    for (char *at = prose; (at = strchr(at, '`'));) {
        char *end = strchr(at + 1, '`');
        if (!end)
            return;
        *end = 0;
        for (char *c = at; (c = strstr(c, "\\|"));)
            *c = ' ';
        r->line = lines[at - prose];
        read_commands(r, at + 1, true);
        at = end + 1;
    }
}

static void read_page(struct reading *r, char *text)
{
    char *prose = calloc(1, strlen(text) + 2), *end = prose, code[COMMAND_MAX] = "";
    int *lines = calloc(strlen(text) + 2, sizeof(*lines)), number = 0;
    bool fenced = false, indented = false, after_blank = true;
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        number++;
        size_t blanks = strspn(line, " ");
        if (strncmp(line + blanks, "```", 3) == 0) {
            fenced = !fenced;
            continue;
        }
        indented = blanks >= 4 && (indented || after_blank || strncmp(line + blanks, "falaj ", 6) == 0);
        after_blank = line[blanks] == 0;
        if (fenced || indented) {
            if (!*code)
                r->line = number;
            bool more = goes_on(line);
            size_t n = strlen(line);
            while (more && n > 0 && strchr(" \\", line[n - 1]))
                n--;
            if (n > blanks)
                snprintf(code + strlen(code), sizeof(code) - strlen(code), "%.*s ", (int)(n - blanks), line + blanks);
            if (!more) {
                read_commands(r, code, false);
                *code = 0;
            }
            continue;
        }
        for (const char *c = line; *c; c++, end++) {
            *end = *c;
            lines[end - prose] = number;
        }
        lines[end - prose] = number;
        *end++ = ' ';
    }
    read_spans(r, prose, lines);
    free(prose);
    free(lines);
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s cannot be read", path);
    char *text = calloc(1, PAGE_MAX);
    size_t n = fread(text, 1, PAGE_MAX - 1, f);
    assert_true(n > 0 && n < PAGE_MAX - 1);
    fclose(f);
    return text;
}

static void pages_show_commands_that_are_there(void **state)
{
    (void)state;
    static const char *const places[] = { "README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/howto/*.md",
                                          "docs/performance/*.md", "*/README.md", "*/*/README.md" };
    const char *root = getenv("FALAJ_SRC");
    glob_t found = { 0 };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char pattern[4096];
        snprintf(pattern, sizeof(pattern), "%s/%s", root ? root : ".", places[i]);
        glob(pattern, i ? GLOB_APPEND : 0, NULL, &found);
    }
    struct reading r = { .page = "" };
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (strstr(found.gl_pathv[i], "/build/") || strstr(found.gl_pathv[i], "/node_modules/"))
            continue;
        char *text = read_file(found.gl_pathv[i]);
        r.page = found.gl_pathv[i];
        read_page(&r, text);
        free(text);
    }
    globfree(&found);
    assert_true(r.seen > 300);
    assert_int_equal(r.wrong, 0);
}

/* The further text of each row: lines indented by two are examples, 'falaj …' in it is advice. */
static void help_shows_commands_that_are_there(void **state)
{
    (void)state;
    struct reading r = { .page = "falaj" };
    for (size_t i = 0; i < command_count; i++) {
        char *more = strdup(command_table[i].more ? command_table[i].more : ""), *rest = more, *line;
        r.page = command_table[i].name;
        while ((line = strsep(&rest, "\n"))) {
            r.line++;
            if (strncmp(line + strspn(line, " "), "falaj ", 6) == 0)
                read_commands(&r, line, *line != ' ');
        }
        free(more);
    }
    assert_true(r.seen > 20);
    assert_int_equal(r.wrong, 0);
}

/* 'falaj …' in the texts of the sources, as errors and advice have it. */
static void advice_names_commands_that_are_there(void **state)
{
    (void)state;
    static const char *const places[] = { "cli/*.c", "cli/*.def", "cli/*.h", "cli/dev/*.c", "core/base/*.def", "scheduler/*/*.c",
                                          "scheduler/*/*.def", "api/*/*.c", "tenants/*/*.c", "keys/*/*.c", "backup/*.c" };
    const char *root = getenv("FALAJ_SRC");
    struct reading r = { .page = "" };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char pattern[4096];
        glob_t found = { 0 };
        snprintf(pattern, sizeof(pattern), "%s/%s", root ? root : ".", places[i]);
        if (glob(pattern, 0, NULL, &found) != 0)
            continue;
        for (size_t k = 0; k < found.gl_pathc; k++) {
            char *text = read_file(found.gl_pathv[k]), *rest = text, *line;
            r.page = found.gl_pathv[k];
            for (r.line = 1; (line = strsep(&rest, "\n")); r.line++) {
                for (char *at = line, *end; (at = strstr(at, "'falaj ")); at = end + 1) {
                    end = strchr(at + 1, '\'');
                    if (!end)
                        break;
                    *end = 0;
                    read_commands(&r, at + 1, true);
                }
            }
            free(text);
        }
        globfree(&found);
    }
    assert_true(r.seen > 20);
    assert_int_equal(r.wrong, 0);
}

static int wrong_in(const char *page, int *seen)
{
    struct reading r = { .page = "here", .is_quiet = true };
    char *text = strdup(page);
    read_page(&r, text);
    free(text);
    *seen = r.seen;
    return r.wrong;
}

static void the_reader_finds_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *page;
        int seen, wrong;
    } cases[] = {
        { "    falaj job list\n", 1, 0 },
        { "    falaj job lits\n", 1, 1 },
        { "    falaj job list --stat FAILED\n", 1, 1 },
        { "    falaj dataset upload digits\n", 1, 1 },
        { "    falaj job submit x --dataset d \\\n        --no-such 1\n", 1, 1 },
        { "    falaj tenant create x --zone z -o jsonpath=.admin_token |\n        falaj login --nme x --with-token\n", 2, 1 },
        { "    X=$(falaj job gett x) && falaj job list   # falaj nothing\n", 2, 1 },
        { "    source <(falaj completon bash)\n", 1, 1 },
        { "    sudo -u falaj falaj doktor\n", 1, 1 },
        { "```sh\nfalaj dev stop       # قف\nfalaj dev stopp\n```\n", 2, 1 },
        { "See `falaj dataset upload` and `falaj dataset\nuplod`; \"falaj x\" is no span.\n", 2, 1 },
        { "`falaj COMMAND --help`, `falaj job submit --dry-run`, `falaj deploy create --no-such`\n", 2, 1 },
        { "    falaj job submit train … --pool kube\n    falaj job exec J -- falaj nothing\n", 2, 0 },
        { "    falaj job submit night --class batch\n    falaj job submit … --class batch\n", 2, 1 },
        { "    printf 'falaj nothing' >falaj\n", 0, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int seen = 0, wrong = wrong_in(cases[i].page, &seen);
        if (seen != cases[i].seen || wrong != cases[i].wrong)
            fail_msg("case %zu: %d seen, %d wrong in:\n%s", i, seen, wrong, cases[i].page);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reader_finds_what_is_wrong), cmocka_unit_test(pages_show_commands_that_are_there),
        cmocka_unit_test(help_shows_commands_that_are_there), cmocka_unit_test(advice_names_commands_that_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
