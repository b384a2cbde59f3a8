/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h - where falaj talks to and as whom: named profiles in one file of the person.
 *
 * The file is $FALAJ_CONFIG_DIR/config, else $XDG_CONFIG_HOME/falaj/config, else ~/.config/falaj/config; its mode is 0600 and it is
 * replaced by rename. Its form: `current = NAME`, then per profile `[NAME]`, `url = …`, `token = …`, `ca_cert = …`; `#` starts
 * a comment line.
 * Precedence: flag > FALAJ_URL, FALAJ_TOKEN, FALAJ_PROFILE, FALAJ_CACERT > profile > default. A token is never taken from the
 * command line.
 * Memory: the arena given. Errors: INVALID (the file, with its line), IO. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "core/base/arena.h"
#include "core/base/err.h"

#define PROFILE_URL_DEFAULT "http://127.0.0.1:8080"
enum { PROFILES_MAX = 64 };

struct profile {
    const char *name;
    const char *url;
    const char *token;          /* NULL: none */
    const char *ca_cert;        /* PEM file: trust these authorities and no others; NULL: the system's */
    const char *url_from, *token_from;      /* "flag", "environment", "profile dev", "default" */
};

struct profile_file {
    const char *path;
    const char *current;        /* NULL: none */
    struct profile profiles[PROFILES_MAX];
    size_t count;
};

/* A file that is not there is an empty one. */
enum errc profile_file_load(struct arena *a, struct profile_file *ret, struct err *e) MUST_CHECK;
enum errc profile_file_save(struct arena *a, const struct profile_file *f, struct err *e) MUST_CHECK;
struct profile *profile_find(struct profile_file *f, const char *name);
/* Insert or replace. LIMIT when the file is full, INVALID for a name that is not [A-Za-z0-9._-]+. */
enum errc profile_put(struct profile_file *f, const char *name, const char *url, const char *token, struct err *e) MUST_CHECK;
void profile_drop(struct profile_file *f, const char *name);
/* name, url and ca_cert from flags, or NULL. */
enum errc profile_resolve(struct arena *a, const char *name, const char *url, const char *ca_cert, struct profile *ret,
                          struct err *e) MUST_CHECK;
