/* SPDX-License-Identifier: Apache-2.0 */
/* harness.h - a throw-away PostgreSQL 15 cluster and Redis on Unix sockets, for one test program.
 *
 * The cluster is copied from a template that is made once per build folder and schema, runs without fsync and dies with the test
 * (by pid, at exit and when the test program is killed). A superuser "postgres" (trust, no password) exists; roles and tables are
 * made by the test.
 * Calling order: pg_harness_new -> … -> pg_harness_free. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a row of quota: what is held now. Jobs that ended are taken off `used` by the next submission. */
#define JOBS_ENDED "coalesce((SELECT e.ended FROM job_end e WHERE e.tenant_id = quota.tenant_id), ended)"
#define JOBS_USED "CASE resource WHEN 'jobs' THEN used + ended - " JOBS_ENDED " ELSE used END"

struct db_pool;
struct pg_harness;
struct redis_harness;
struct stmt;

struct pg_harness *pg_harness_new(void);                                    /* started and answering; aborts when it cannot */
struct pg_harness *pg_harness_new_cluster(void);     /* the same, made by initdb: its identity is its own */
/* A streaming standby of h, caught up; pg_harness_promote makes it the primary. */
struct pg_harness *pg_harness_standby(struct pg_harness *h);
void pg_harness_promote(struct pg_harness *standby);
/* pg_dump of dbname in `from`, read into a new database of that name (or the empty postgres) in `to`, with the roles. */
void pg_harness_restore(struct pg_harness *from, struct pg_harness *to, const char *dbname);
void pg_harness_free(struct pg_harness *h);
/* What runs goes on in another cluster: *h and its pools (*other may be NULL, and is then) end, *h is `to`, and *pool is of its
 * role falaj_app, with these statements. */
void pg_harness_go_to(struct pg_harness **h, struct pg_harness *to, const char *dbname, struct db_pool **pool,
                      struct db_pool **other, const struct stmt *const *const *lists);
void pg_harness_stop(struct pg_harness *h);                                 /* immediate shutdown: an outage */
void pg_harness_start(struct pg_harness *h);                                /* again, with the same data */
/* conninfo of a role and database; lives as long as h. NULL: postgres. */
const char *pg_harness_conninfo(struct pg_harness *h, const char *user, const char *dbname);
/* As superuser in database dbname (NULL: postgres); aborts with the server's message when it fails. */
void pg_harness_exec(struct pg_harness *h, const char *dbname, const char *sql);
/* The one integer that a query gives, as superuser; aborts with the server's message, or when it gives another thing. */
int64_t pg_harness_number(struct pg_harness *h, const char *dbname, const char *sql);
void pg_harness_exec_file(struct pg_harness *h, const char *dbname, const char *path);
/* The roles, and the schema as it ships, in a new database of that name; NULL: in the database postgres. The first call takes the
 * template's database, later ones and those on a cluster made by initdb run the migrations. */
void pg_harness_migrate(struct pg_harness *h, const char *dbname);
const char *pg_harness_socket_dir(struct pg_harness *h);

struct redis_harness *redis_harness_new(const char *password);              /* password NULL: none */
void redis_harness_free(struct redis_harness *h);
void redis_harness_stop(struct redis_harness *h);
void redis_harness_start(struct redis_harness *h);
const char *redis_harness_address(struct redis_harness *h);                 /* "unix:/…" */
