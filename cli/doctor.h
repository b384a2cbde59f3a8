/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h - the checks of `falaj doctor`, for the command itself and for the support bundle.
 *
 * A check is a row: its name, ok | warn | fail, what was seen, what to do. Nothing here changes anything. What cannot be read by
 * this account is a warning that says so, never silence. */
#pragma once
#include "cli/command.h"

struct doctor {
    struct cli *c;
    struct buf rows;            /* JSON objects between commas */
    int failures;
    size_t count;
};

void doctor_row(struct doctor *d, const char *name, const char *result, const char *seen, const char *todo);
/* All checks, of the data folder of falaj dev or of a server's /etc/falaj (--etc): *ret_etc is where settings were read, or
 * NULL. */
void doctor_all(struct doctor *d, const char **ret_etc);

/* doctor_place.c: what the files of a server tell, by its folder of settings; bin: of falaj-migrate (NULL: PATH). */
void doctor_place(struct doctor *d, const char *etc, const char *secrets, const char *bin);
void doctor_certificates(struct doctor *d, const char *dir);
void doctor_space(struct doctor *d, const char *name, const char *dir);
/* Value of a setting in a file of settings, or NULL; the last line counts. *ret_unreadable: the file is there and cannot be
 * read. */
const char *doctor_setting(struct arena *a, const char *path, const char *key, bool *ret_unreadable);
