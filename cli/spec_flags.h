/* SPDX-License-Identifier: Apache-2.0 */
/* spec_flags.h - the flags of a job's spec, from the schemas of the kinds that callers submit: a member batch_size is --batch-size, and
 * dataset_id is --dataset with a name or an id. A member that the API fills in has no flag. Limits and defaults are the API's: a member
 * without its flag is left out of the request. */
#pragma once
#include "cli/command.h"

/* The flags of a row: its own; those of specs and --kind before them where it says CMD_SPEC. NULL: none. */
const struct cli_flag *command_flags(const struct command *cmd);
/* {"member":value, …} from the given flags, then the members of --set. CLI_USAGE after a message: a value that is none, a flag of another
 * kind, a member that the kind requires. */
int spec_from_flags(struct cli *c, const char *kind, struct buf *b);
/* The kind of object whose ids begin so ("mdl"), or NULL. */
const struct noun *noun_by_prefix(struct str prefix);
/* "a,b" as ["a","b"]. */
void spec_words(const char *value, struct buf *b);
