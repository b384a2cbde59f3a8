/* SPDX-License-Identifier: Apache-2.0 */
/* rest.h - the path, query and body of a call, built from a row of the command table and the words given (language: command.h). */
#pragma once
#include "cli/command.h"

/* CLI_OK, or an exit code after a message. */
int rest_path(struct cli *c, const char **ret);
int rest_body(struct cli *c, const char *spec, struct str *ret);
/* Print one page after another of a GET list; honours --limit. path may hold a query already. */
int rest_list(struct cli *c, const char *path, const char *columns);
