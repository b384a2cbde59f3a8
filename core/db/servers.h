/* SPDX-License-Identifier: Apache-2.0 */
/* servers.h - which of several PostgreSQL servers of one conninfo is asked for a connection; only for core/db.
 *
 * libpq tries `host=a,b` in that order each time, and waits connect_timeout for each that takes a connection and says nothing (a
 * frozen machine) or whose packets go nowhere (a lost one). Here the server that took the last connection comes first, the next
 * is asked beside it when it says nothing (dial.h), and one that was silent is left out for three seconds while there is another;
 * then one caller asks it when all others refuse. target_session_attrs holds for each attempt as ever.
 * Thread-safe; what is remembered is the process's, and only changes the order of attempts. */
#pragma once
#include <libpq-fe.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "core/base/str.h"

/* As PQconnectdbParams(keys, values, 1), conninfo being the value of dbname; at most 13 keys. To be finished by the caller; not
 * OK or NULL: none took it. *why gets what failed attempts said. */
PGconn *servers_connect(const char *conninfo, const char *const *keys, const char *const *values, struct buf *why);

/* Something on the server's side takes a new connection, or refuses it: the machine runs. False after 5 s of silence. */
bool server_answers(PGconn *pg);
/* The server of this connection owes an answer and gives none. */
void server_is_silent(PGconn *pg);
/* How often this connection's server was found silent, by whomever in the process; valid for ever, and may grow for another's
 * silence too. NULL: it has no name. */
const atomic_int *server_silences(PGconn *pg);
