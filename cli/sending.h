/* SPDX-License-Identifier: Apache-2.0 */
/* sending.h - a file as the next version of a data set, in parts: a cut connection costs one of them.
 *
 * Nothing is remembered here: the platform knows the own open uploads of a data set with their sizes and digests, so the same
 * call
 * finds its own beginning again, after a restart too. Progress goes to standard error. */
#pragma once
#include "cli/command.h"

enum { SENDING_PART_MAX = 4 << 20 };    /* bytes; a smaller file may go as one body where the data set takes one */

/* dataset: an id. format: of the file; NULL: as it begins. resume: the upload to go on with; NULL: found by itself, or begun.
 * CLI_OK, or an exit code after a message. */
int send_in_parts(struct cli *c, const char *dataset, const char *path, const char *format, const char *resume,
                  int64_t *ret_version);
