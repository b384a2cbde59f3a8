/* SPDX-License-Identifier: Apache-2.0 */
/* pgerr.c - the one map from SQLSTATE to enum errc: exact codes first, then classes (PostgreSQL 15, appendix A). */
#include "core/db/pgerr.h"

#include <stdbool.h>
#include <string.h>

struct pgerr_row {
    const char *state;      /* a whole SQLSTATE, or the first characters of it */
    enum errc code;
    const char *msg;        /* fit for the caller */
};

static const struct pgerr_row pgerr_rows[] = {
    { "23505", ERR_EXISTS, "an object with that name or key exists already" },
    { "23502", ERR_INVALID, "a required value is missing" },
    { "23514", ERR_INVALID, "a value breaks a rule of the stored object" },
    { "23P01", ERR_CONFLICT, "the object collides with another one" },
    { "22", ERR_INVALID, "a value cannot be stored" },
    { "40001", ERR_RETRY, "the call met another one" },
    { "40P01", ERR_RETRY, "the call met another one" },
    { "42804", ERR_RETRY, "a table was changed while the call read it" },   /* SETOF a table's rows, planned before a migration */
    { "55P03", ERR_RETRY, "the object is locked by another call" },
    { "57014", ERR_DEADLINE, "the database took too long" },
    { "25P03", ERR_DEADLINE, "the transaction was idle for too long" },
    { "57P", ERR_UNAVAILABLE, "the database is shutting down or starting up" },
    { "08", ERR_UNAVAILABLE, "the database cannot be reached" },
    { "53", ERR_UNAVAILABLE, "the database is out of resources" },
    { "58", ERR_UNAVAILABLE, "the database has a storage failure" },
    { "28", ERR_UNAVAILABLE, "the database refuses the login" },
    { "3D000", ERR_UNAVAILABLE, "the database does not exist" },
};

static const struct {
    const char *state;
    enum errc code;
} pgerr_own[] = {
    { "FJ400", ERR_INVALID },       { "FJ403", ERR_FORBIDDEN },     { "FJ404", ERR_NOT_FOUND },
    { "FJ409", ERR_CONFLICT },      { "FJ412", ERR_PRECONDITION },  { "FJ422", ERR_UNPROCESSABLE },
    { "FJ429", ERR_QUOTA },         { "FJ503", ERR_RETRY },
};

#define LENGTH(a) (sizeof(a) / sizeof *(a))

static enum errc own_code(const char *sqlstate)
{
    for (size_t i = 0; i < LENGTH(pgerr_own); i++)
        if (strcmp(sqlstate, pgerr_own[i].state) == 0)
            return pgerr_own[i].code;
    return ERR_OK;
}

static const struct pgerr_row *row_of(const char *sqlstate)
{
    for (size_t i = 0; i < LENGTH(pgerr_rows); i++)
        if (strncmp(sqlstate, pgerr_rows[i].state, strlen(pgerr_rows[i].state)) == 0)
            return &pgerr_rows[i];
    return NULL;
}

/* 23503 covers both directions; PostgreSQL tells them apart in the text only. */
static bool is_still_referenced(const char *primary)
{
    return primary && strncmp(primary, "update or delete on", strlen("update or delete on")) == 0;
}

enum errc pgerr_code(const char *sqlstate, const char *primary)
{
    if (!sqlstate || !*sqlstate)
        return ERR_UNAVAILABLE;
    enum errc own = own_code(sqlstate);
    if (own != ERR_OK)
        return own;
    if (strcmp(sqlstate, "23503") == 0)
        return is_still_referenced(primary) ? ERR_CONFLICT : ERR_NOT_FOUND;
    const struct pgerr_row *row = row_of(sqlstate);
    return row ? row->code : ERR_INTERNAL;
}

static const char *message_for(const char *sqlstate, const char *primary)
{
    if (!sqlstate || !*sqlstate)
        return "the database cannot be reached";
    if (own_code(sqlstate) != ERR_OK)
        return primary ? primary : "the database refused the call";
    if (strcmp(sqlstate, "23503") == 0)
        return is_still_referenced(primary) ? "the object is still in use" : "an object that is pointed to does not exist";
    const struct pgerr_row *row = row_of(sqlstate);
    return row ? row->msg : "the database refused a statement";
}

enum errc pgerr_fill(struct err *e, const char *sqlstate, const char *primary, const char *constraint, const char *column,
                     const char *stmt_name)
{
    enum errc code = pgerr_code(sqlstate, primary);
    err_set(e, code, __FILE__, __LINE__, "%s", message_for(sqlstate, primary));
    err_note(e, "SQLSTATE %s", sqlstate && *sqlstate ? sqlstate : "none");
    if (stmt_name)
        err_note(e, "statement %s", stmt_name);
    if (constraint && *constraint)
        err_note(e, "constraint %s", constraint);
    if (primary && *primary)
        err_note(e, "%s", primary);
    if (column && *column == '/')
        err_field(e, "%s", column);
    return code;
}
