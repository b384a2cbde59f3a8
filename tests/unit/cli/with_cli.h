/* SPDX-License-Identifier: Apache-2.0 */
/* with_cli.h - a struct cli whose output and errors are memory, for the tests of cli/. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the headers above first */
#include <cmocka.h>
#include "cli/command.h"
#include "core/http/client.h"

struct with_cli {
    struct cli c;
    char *out, *err;
    size_t out_len, err_len;
};

static inline void with_cli_init(struct with_cli *w)
{
    memset(w, 0, sizeof(*w));
    w->c.arena = arena_new(64 << 20);
    w->c.out = open_memstream(&w->out, &w->out_len);
    w->c.err = open_memstream(&w->err, &w->err_len);
    w->c.profile = (struct profile){ .name = "", .url = "http://127.0.0.1:1", .url_from = "test", .token_from = "test" };
}

static inline const char *with_cli_out(struct with_cli *w)
{
    fflush(w->c.out);
    return w->out;
}

static inline const char *with_cli_err(struct with_cli *w)
{
    fflush(w->c.err);
    return w->err;
}

static inline void with_cli_release(struct with_cli *w)
{
    fclose(w->c.out);
    fclose(w->c.err);
    free(w->out);
    free(w->err);
    http_client_free(w->c.http);
    arena_free(w->c.arena);
}

/* Parse words given as one list ended by NULL. */
static inline int with_cli_parse(struct with_cli *w, char **words)
{
    int n = 0;
    while (words[n])
        n++;
    return cli_parse(&w->c, n, words);
}
/* Runs the command of the words: its exit code, and what it says on standard error. */
static inline void with_cli_expect(char **words, int code, const char *says)
{
    struct with_cli w;
    with_cli_init(&w);
    assert_int_equal(with_cli_parse(&w, words), CLI_OK);
    assert_int_equal(w.c.cmd->run(&w.c), code);
    if (!strstr(with_cli_err(&w), says))
        fail_msg("\"%s\" does not say \"%s\"", with_cli_err(&w), says);
    with_cli_release(&w);
}
#define WORDS(...) ((char *[]){ __VA_ARGS__, NULL })
