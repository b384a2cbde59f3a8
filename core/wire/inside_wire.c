/* SPDX-License-Identifier: Apache-2.0 */
/* inside_wire.c - the schemas, and what fits which kind. */
#include "core/wire/inside_wire.h"

#include <string.h>

const char *const inside_kinds[] = { "exec", "shell", "forward", "attach", NULL };

bool inside_check_term(struct str s, const char **why)
{
    *why = "be letters, digits, '+', '.', '_' and '-', and begin with a letter or digit";
    for (size_t i = 0; i < s.len; i++) {
        const char c = s.ptr[i];
        const bool is_plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!is_plain && (!i || !memchr("+._-", c, 4)))
            return false;
    }
    return s.len > 0;
}

bool inside_check_word(struct str s, const char **why)
{
    *why = "have no NUL in it";
    return !memchr(s.ptr, '\0', s.len);
}

SCHEMA_EXTERN(inside_ask, "What somebody wants in a running program's box", INSIDE_ASK_FIELDS(inside_ask));
SCHEMA_EXTERN(inside_size, "The size of a terminal",
    FIELD(inside_size, cols, F_REQ, .min = 1, .max = INSIDE_SIDE_MAX, .doc = "Columns"),
    FIELD(inside_size, rows, F_REQ, .min = 1, .max = INSIDE_SIDE_MAX, .doc = "Lines"));
SCHEMA_EXTERN(inside_end, "How a session ended",
    FIELD_OPT(inside_end, exit_code, 0, .min = 0, .max = 255, .doc = "Status of the command; 128 and the signal that ended it"),
    FIELD(inside_end, error, 0, .max = 500, .doc = "Why it never began, or could not go on"),
    FIELD(inside_end, reason, 0, .max = 40, .doc = "The same as a word, where falaj-api ended it"));

const struct inside_why_row inside_whys[INSIDE_WHYS] = {
#define WHY(name, word, text) [INSIDE_WHY_##name] = { word, text },
#include "core/wire/inside_why.def"
#undef WHY
};

bool inside_has_tty(const struct inside_ask *a)
{
    return a->kind == INSIDE_SHELL || (a->kind == INSIDE_EXEC && a->tty);
}

enum errc inside_ask_check(const struct inside_ask *a, struct err *e)
{
    size_t bytes = 0;
    for (size_t i = 0; i < a->command.n; i++)
        bytes += ((const struct str *)a->command.items)[i].len + 1;
    if (a->kind == INSIDE_EXEC && (!a->command.n || !((const struct str *)a->command.items)[0].len))
        return FAIL_AT(e, INVALID, "/command", "exec needs a command, as a list of its words");
    if (a->kind != INSIDE_EXEC && a->command.n)
        return FAIL_AT(e, INVALID, "/command", "%s takes no command", inside_kinds[a->kind]);
    if (bytes > INSIDE_ASK_MAX / 2)
        return FAIL_AT(e, INVALID, "/command", "The command has more than %d bytes", INSIDE_ASK_MAX / 2);
    if ((a->kind == INSIDE_FORWARD) != (a->port > 0))
        return FAIL_AT(e, INVALID, "/port", a->port ? "%s takes no port" : "%s needs a port from 1 to 65535",
                       inside_kinds[a->kind]);
    return ERR_OK;
}
