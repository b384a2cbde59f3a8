/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_keys.c - falaj keys init: becomes `falaj-keyd --init-token`, for this program knows nothing of tokens and PINs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/command.h"

static const char *keyd_path(struct cli *c)
{
    char path[4096];
    const char *own = getenv("FALAJ_BIN");
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (own && *own)
        return arena_printf(c->arena, "%s/falaj-keyd", own);
    if (n <= 0)
        return "falaj-keyd";
    path[n] = '\0';
    *strrchr(path, '/') = '\0';
    return arena_printf(c->arena, "%s/falaj-keyd", path);
}

int cmd_keys_init(struct cli *c)
{
    static const char *const passed[] = { "zone", "module", "token-label", "pin-file", "so-pin-file" };
    enum { PASSED = sizeof passed / sizeof *passed, NEEDED = 3 };
    const char *argv[4 + 2 * PASSED + 1] = { keyd_path(c), "--init-token", "--log", "logfmt" };
    int n = 4;
    for (int i = 0; i < PASSED; i++) {
        const char *value = cli_flag(c, passed[i]);
        if (!value && i < NEEDED)
            return cli_fail(c, CLI_USAGE, "falaj keys init --help", "--%s is missing", passed[i]);
        if (!value)
            continue;
        argv[n++] = arena_printf(c->arena, "--%s", passed[i]);
        argv[n++] = value;
    }
    fflush(c->out);
    execv(argv[0], (char *const *)argv);
    return cli_fail(c, CLI_FAILED, "it lies beside falaj, or in the folder that FALAJ_BIN names", "%s cannot be run: %s", argv[0], strerror(errno));
}
