/* SPDX-License-Identifier: Apache-2.0 */
/* inside_wire.h - what is said in a session of a person's in a running program's box: person - falaj-api - machine.
 *
 * Binary messages of a WebSocket, each of a letter and what belongs to it:
 *   from the machine   INSIDE_OUT, INSIDE_ERR: bytes; INSIDE_END: JSON (inside_end), the last one
 *   to the machine     INSIDE_ASK: JSON (inside_ask), the first one, of falaj-api's own; INSIDE_IN: bytes; INSIDE_EOF: there
 *                      are no more of them; INSIDE_SIZE: JSON (inside_size), of a terminal
 * A person hears what the machine says and says INSIDE_IN, INSIDE_EOF and INSIDE_SIZE; falaj-api passes nothing else on.
 * To falaj-api itself a person says INSIDE_PAUSE and INSIDE_GO: a browser takes from its socket whatever comes, so what
 * draws slower than a program writes must say so, or its memory fills.
 * A session of kind forward is one connection: its bytes are INSIDE_IN and INSIDE_OUT. One of kind attach says nothing but its
 * end: INSIDE_IN goes to the program itself, and INSIDE_EOF ends its standard input for good. */
#pragma once
#include "core/table/schema.h"

/* Sec-WebSocket-Protocol from a browser: this, and INSIDE_TICKET with the session's ticket behind it; the answer is this. */
#define INSIDE_PROTOCOL "falaj.inside"
#define INSIDE_TICKET "ticket."
enum { INSIDE_WORDS_MAX = 64, INSIDE_ASK_MAX = 8192, INSIDE_SIDE_MAX = 1000, INSIDE_PORT_MAX = 65535, INSIDE_TERM_MAX = 32 };
enum inside_kind { INSIDE_EXEC, INSIDE_SHELL, INSIDE_FORWARD, INSIDE_ATTACH };
extern const char *const inside_kinds[];
enum inside_part {
    INSIDE_IN = 'i', INSIDE_EOF = 'z', INSIDE_SIZE = 's', INSIDE_ASK = 'a', INSIDE_OUT = 'o', INSIDE_ERR = 'e', INSIDE_END = 'x',
    INSIDE_PAUSE = 'p', INSIDE_GO = 'g'
};

struct inside_ask {
    int kind;                           /* enum inside_kind */
    struct slice command;               /* struct str; of exec */
    bool tty;                           /* of exec; a shell always has one */
    int64_t cols, rows;                 /* of a terminal */
    struct str term;                    /* what the terminal is called */
    int64_t port;                       /* of forward */
};
struct inside_size { int64_t cols, rows; };
struct inside_end {
    bool has_exit_code;
    int64_t exit_code;                  /* of the command; 128 and the signal that ended it */
    struct str error;                   /* why it never began, or could not go on */
    struct str reason;                  /* its word (inside_why.def), where falaj-api ended it */
};

enum inside_why {
    INSIDE_GOES_ON,
#define WHY(name, word, text) INSIDE_WHY_##name,
#include "core/wire/inside_why.def"
#undef WHY
    INSIDE_WHYS
};
struct inside_why_row { const char *word, *text; };
extern const struct inside_why_row inside_whys[INSIDE_WHYS];    /* [INSIDE_GOES_ON]: NULLs */
extern const struct schema inside_ask_schema, inside_size_schema, inside_end_schema;

/* .check: what a terminal may be called. */
bool inside_check_term(struct str s, const char **why);
bool inside_check_word(struct str s, const char **why);
/* Does what is asked fit its kind? INVALID, with its member. */
MUST_CHECK enum errc inside_ask_check(const struct inside_ask *a, struct err *e);
/* Has it a terminal? */
bool inside_has_tty(const struct inside_ask *a);

#define INSIDE_ASK_FIELDS(T)                                                                                                \
    FIELD_ENUM(T, kind, F_REQ, inside_kinds, .doc = "exec: a command; shell: the image's shell in a terminal; forward: one "   \
               "connection to a port of the job's own loopback; attach: the program's own standard input"),                 \
    FIELD_STRS(T, command, F_NOEMPTY, .max = INSIDE_WORDS_MAX, .check = inside_check_word, .dflt = "", .example = "nvidia-smi",  \
               .doc = "Of exec: the program and its words; no shell reads them"),                                           \
    FIELD(T, tty, 0, .dflt = "false", .doc = "Of exec: in a terminal, where standard error is not apart"),                  \
    FIELD(T, cols, 0, .min = 1, .max = INSIDE_SIDE_MAX, .dflt = "80", .doc = "Columns of the terminal"),                    \
    FIELD(T, rows, 0, .min = 1, .max = INSIDE_SIDE_MAX, .dflt = "24", .doc = "Lines of the terminal"),                      \
    FIELD(T, term, 0, .min = 1, .max = INSIDE_TERM_MAX, .check = inside_check_term, .dflt = "xterm-256color",               \
          .pattern_doc = "^[A-Za-z0-9][A-Za-z0-9+._-]*$", .doc = "What the terminal is called: the variable TERM"),          \
    FIELD(T, port, 0, .min = 0, .max = INSIDE_PORT_MAX, .dflt = "0", .doc = "Of forward: the port, from 1")
