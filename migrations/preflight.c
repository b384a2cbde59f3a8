/* SPDX-License-Identifier: Apache-2.0 */
/* preflight.c - words of SQL, comments and strings taken out; a statement's first words say what it does to which table. */
#include "migrations/preflight.h"
#include <ctype.h>
#include <string.h>

enum { WORDS_MAX = 512, WORD_MAX = 64 };

struct words {
    char w[WORDS_MAX][WORD_MAX];
    size_t n;
};

/* The words of the next statement, in lower case; NULL: there is none. Bodies of functions ($$ … $$) and strings are no words. */
static const char *next_statement(const char *p, struct words *ws)
{
    ws->n = 0;
    for (; *p && *p != ';';) {
        if (p[0] == '-' && p[1] == '-') {
            p += strcspn(p, "\n");
        } else if (*p == '\'') {
            p++;
            p += strcspn(p, "'");
            p += *p == '\'';
        } else if (p[0] == '$' && (p[1] == '$' || isalpha((unsigned char)p[1]))) {
            size_t n = strcspn(p + 1, "$") + 2;
            char tag[WORD_MAX] = "";
            memcpy(tag, p, n < WORD_MAX - 1 ? n : WORD_MAX - 1);
            const char *end = strstr(p + n, tag);
            p = end ? end + strlen(tag) : p + strlen(p);
        } else if (isalnum((unsigned char)*p) || *p == '_' || *p == '"') {
            size_t n = 0;
            for (; isalnum((unsigned char)*p) || *p == '_' || *p == '"' || *p == '.'; p++)
                if (*p != '"' && n < WORD_MAX - 1 && ws->n < WORDS_MAX)
                    ws->w[ws->n][n++] = (char)tolower((unsigned char)*p);
            if (ws->n < WORDS_MAX)
                ws->w[ws->n++][n] = '\0';
        } else {
            p++;
        }
    }
    if (!*p && !ws->n)
        return NULL;
    return *p ? p + 1 : p;
}

static bool is(const struct words *ws, size_t i, const char *word)
{
    return i < ws->n && strcmp(ws->w[i], word) == 0;
}

/* The name after words that may stand before it. */
static const char *name_at(const struct words *ws, size_t i)
{
    while (is(ws, i, "only") || is(ws, i, "if") || is(ws, i, "not") || is(ws, i, "exists") || is(ws, i, "concurrently"))
        i++;
    const char *w = i < ws->n ? ws->w[i] : "";
    return strncmp(w, "public.", 7) == 0 ? w + 7 : w;
}

static size_t find(const struct words *ws, const char *word)
{
    size_t i = 0;
    while (i < ws->n && strcmp(ws->w[i], word) != 0)
        i++;
    return i;
}

struct touches {
    struct table_touch *out;
    size_t n, cap, nmade;
    char made[TOUCHES_MAX][WORD_MAX];
};

static void touch(struct touches *t, const char *table, enum table_lock lock, bool reads_all)
{
    size_t i = 0;
    for (size_t k = 0; k < t->nmade; k++)
        if (strcmp(t->made[k], table) == 0)
            return;
    while (i < t->n && strcmp(t->out[i].table, table) != 0)
        i++;
    if (!*table || i == t->cap)
        return;
    if (i == t->n) {
        t->out[t->n++] = (struct table_touch){ .lock = lock };
        strncpy(t->out[i].table, table, sizeof t->out[i].table - 1);
    }
    t->out[i].lock = lock > t->out[i].lock ? lock : t->out[i].lock;
    t->out[i].reads_all |= reads_all;
}

/* Words of ALTER TABLE after which PostgreSQL reads or rewrites the table. */
static bool alters_all(const struct words *ws)
{
    bool sets_not_null = find(ws, "set") < ws->n && is(ws, find(ws, "set") + 1, "not");
    return find(ws, "type") < ws->n || find(ws, "check") < ws->n || find(ws, "references") < ws->n ||
           find(ws, "unique") < ws->n || find(ws, "primary") < ws->n || find(ws, "validate") < ws->n || sets_not_null;
}

static void references(struct touches *t, const struct words *ws)
{
    for (size_t i = 0; i < ws->n; i++)
        if (is(ws, i, "references"))
            touch(t, name_at(ws, i + 1), LOCK_WRITERS, false);
}

static void create(struct touches *t, const struct words *ws)
{
    if (is(ws, 1, "table")) {
        if (t->nmade < TOUCHES_MAX)
            strncpy(t->made[t->nmade++], name_at(ws, 2), WORD_MAX - 1);
        references(t, ws);
    } else if (is(ws, 1, "index") || is(ws, 2, "index")) {
        touch(t, name_at(ws, find(ws, "on") + 1), find(ws, "concurrently") < ws->n ? LOCK_ROWS : LOCK_WRITERS, true);
    } else if (find(ws, "trigger") <= 3) {
        touch(t, name_at(ws, find(ws, "on") + 1), LOCK_WRITERS, false);
    } else if (is(ws, 1, "policy")) {
        touch(t, name_at(ws, find(ws, "on") + 1), LOCK_ALL, false);
    }
}

size_t preflight_touches(const char *sql, struct table_touch *out, size_t cap)
{
    struct touches t = { .out = out, .cap = cap };
    static _Thread_local struct words ws;
    for (const char *p = sql; (p = next_statement(p, &ws));) {
        if (is(&ws, 0, "alter") && is(&ws, 1, "table")) {
            touch(&t, name_at(&ws, 2), LOCK_ALL, alters_all(&ws));
            references(&t, &ws);
        } else if (is(&ws, 0, "drop") && (is(&ws, 1, "table") || is(&ws, 1, "policy") || is(&ws, 1, "trigger"))) {
            touch(&t, is(&ws, 1, "table") ? name_at(&ws, 2) : name_at(&ws, find(&ws, "on") + 1), LOCK_ALL, false);
        } else if (is(&ws, 0, "create")) {
            create(&t, &ws);
        } else if (is(&ws, 0, "update")) {
            touch(&t, name_at(&ws, 1), LOCK_ROWS, true);
        } else if ((is(&ws, 0, "delete") || is(&ws, 0, "insert")) && ws.n > 2) {
            touch(&t, name_at(&ws, 2), LOCK_ROWS, true);
        }
    }
    return t.n;
}
