/* SPDX-License-Identifier: Apache-2.0 */
/* shell_words.h - the commands of a line as a page shows them to a person who types them: as much of a shell's reading as
 * pages use.
 *
 * Pipes, lists, comments, quotes, redirections, assignments before a command and $(…) or <(…) are read, nothing is
 * expanded: $NAME stays as it is. A word "…" says that the page leaves something out. Words live in the caller's buffer. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { SHELL_WORDS_MAX = 64, SHELL_DEPTH_MAX = 4 };

struct shell_line {
    char *words[SHELL_WORDS_MAX];
    int count;
    bool is_elided;         /* a word was "…" or "..." */
};
typedef void (*shell_use)(void *ctx, struct shell_line *line);

struct shell_read {
    const char *at;
    char *room, *room_end;
    shell_use use;
    void *ctx;
};

static inline void shell_commands(struct shell_read *r, char until, int depth);

static inline void shell_put(struct shell_read *r, char c)
{
    if (r->room < r->room_end)
        *r->room++ = c;
}

/* $(…) and <(…): commands of their own, of which a word has an x. */
static inline void shell_inner(struct shell_read *r, int depth)
{
    char *word = r->room;
    struct shell_read inner = *r;
    char space[4096];
    inner.room = space;
    inner.room_end = space + sizeof(space);
    inner.at += 2;
    shell_commands(&inner, ')', depth + 1);
    r->at = inner.at;
    r->room = word;
    shell_put(r, 'x');
}

/* One word from r->at; false where none begins. */
static inline bool shell_word(struct shell_read *r, char until, int depth)
{
    const char *begin = r->at;
    char quote = 0;
    for (; *r->at && *r->at != '\n'; r->at++) {
        char c = *r->at;
        bool is_at = c == '$' || (c == '<' && !quote && r->at == begin);
        bool is_inner = quote != '\'' && depth < SHELL_DEPTH_MAX && is_at && r->at[1] == '(';
        if (is_inner) {
            shell_inner(r, depth);
            r->at--;
        } else if (quote) {
            if (c == quote)
                quote = 0;
            else if (c == '\\' && quote == '"' && r->at[1] && strchr("\"\\$`", r->at[1]))
                shell_put(r, *++r->at);
            else
                shell_put(r, c);
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '\\' && r->at[1] && r->at[1] != '\n') {
            shell_put(r, *++r->at);
        } else if (strchr(" \t|&;<>()", c) || (until && c == until)) {
            break;
        } else {
            shell_put(r, c);
        }
    }
    shell_put(r, 0);
    return r->at > begin;
}

static inline void shell_end(struct shell_read *r, struct shell_line *line)
{
    if (line->count > 0)
        r->use(r->ctx, line);
    line->count = 0;
    line->is_elided = false;
}

/* Every simple command up to the end of the text or the sign `until`. */
static inline void shell_commands(struct shell_read *r, char until, int depth)
{
    struct shell_line line = { .count = 0 };
    bool is_place = false;          /* the next word is the file of a redirection */
    while (*r->at && *r->at != until) {
        char c = *r->at;
        if (c == '#' || c == '\n') {
            if (c == '#')
                r->at += strcspn(r->at, "\n");
            else
                r->at++;
            shell_end(r, &line);
        } else if (c == ' ' || c == '\t') {
            r->at++;
        } else if (strchr("|&;()", c)) {
            r->at++;
            shell_end(r, &line);
        } else if ((c == '<' && r->at[1] != '(') || c == '>') {
            r->at += strspn(r->at, "<>&");
            is_place = true;
        } else {
            char *word = r->room;
            if (!shell_word(r, until, depth))
                r->at++;
            else if (is_place)
                is_place = false;
            else if (strcmp(word, "…") == 0 || strcmp(word, "...") == 0)
                line.is_elided = true;
            else if (line.count < SHELL_WORDS_MAX)
                line.words[line.count++] = word;
        }
    }
    if (*r->at == until && until)
        r->at++;
    shell_end(r, &line);
}
