/* SPDX-License-Identifier: Apache-2.0 */
/* second_person.h - is this account a second person beside that one? One rule, asked by every act that needs two people.
 *
 * Two accounts are two people when neither comes from the other and both come from nobody in common. An account comes from who
 * made it (created it, invited it, provisioned it), who gave it a role, linked it to a subject of a provider, set up the provider
 * it signs in at, or made a token for it; and from all that those come from. What was given stays written down when it is taken
 * back (table person_origin, filled by triggers). An account of which nobody knows who made it does not count. Nor does a
 * program, nor an account, a role that may decide or a link to a provider that is younger than approval.age_ms.
 * Two ways lead out of an origin: the account was made by the installation (falaj-api --bootstrap-admin, --bootstrap-officer), or
 * two people who count have vouched for it by appointing it (appointment.h): what was given before that counts no more.
 *
 * With approval.separation = accounts (development only) any other account counts; the audit events of such decisions say so.
 * Not decided here: permissions, and who asked (approval.h). Whoever runs the provider at which an organisation signs in can be
 * anybody who signs in there: appointing such an account vouches for its provider too.
 * Memory: w->arena. Errors: of the database only; a refusal is an answer. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"
#include "tenants/access/principal.h"

struct stmt;
struct config;

#define SECOND_PERSON_WHYS(X) \
    X(COUNTS, "counts", "") \
    X(PERMISSION, "permission", "You do not hold the permission that this decision needs") \
    X(REQUESTER, "requester", "You made this request, so another person must decide about it") \
    X(ADMINISTRATOR, "administrator", "You administer this tenant, so you cannot approve for it") \
    X(DECIDED, "decided", "You have already decided about this request") \
    X(SUBJECT, "subject", "The request is about you, so another person must decide about it") \
    X(PROGRAM, "program", "A program is not a person: a person must decide") \
    X(UNKNOWN, "unknown", "It is not known who made one of the two accounts, so they may be one person's") \
    X(ACCOUNT, "account", "Your account was made by a person of this request, or by somebody whom that person made") \
    X(ROLE, "role", "A role of yours was given by a person of this request, or by somebody whom that person made") \
    X(LINK, "link", "Your account was linked to a provider by a person of this request, or by somebody whom that person made") \
    X(PROVIDER, "provider", "You sign in at a provider that a person of this request has set up") \
    X(TOKEN, "token", "A token of yours was made by a person of this request, or by somebody whom that person made") \
    X(MAKER, "maker", "You made the account of a person of this request, or gave it a role, a link or a token") \
    X(COMMON, "common", "Your account and that of a person of this request come from the same person") \
    X(YOUNG_ACCOUNT, "young_account", "Your account is too young to be a second person") \
    X(YOUNG_ROLE, "young_role", "You hold the role that may decide for too short a time") \
    X(YOUNG_LINK, "young_link", "Your account was linked to a sign-on provider too short a time ago")

#define SECOND_WHY_LIST \
    "permission, requester, administrator, decided, subject, program, unknown, account, role, link, " \
    "provider, token, maker, common, young_account, young_role or young_link"

enum second_why {
#define X(name, ...) SECOND_##name,
    SECOND_PERSON_WHYS(X)
#undef X
    SECOND_WHY_COUNT
};
extern const char *const second_why_names[];    /* of enum second_why, NULL-ended */
const char *second_why_text(enum second_why why);

struct second_person {
    enum second_why why;
    struct timestamp counts_from;   /* of the young ones: when they no longer are; else 0 */
};

/* False: development, any two accounts count. */
bool second_person_asked(const struct app *app);
/* A production platform asks for people, an hour old at least: INVALID otherwise. For the start of a daemon. */
enum errc second_person_config(const struct config *c, struct err *e) MUST_CHECK;
/* May `user_id` be the second person beside `other`? perm: what the decision needs; the roles that give it are those that must be
 * old. */
enum errc second_person_judge(struct work *w, struct uuid user_id, struct uuid other, enum permission perm,
    struct second_person *ret,
                              struct err *e) MUST_CHECK;
/* Can this role, where it is bound, decide as a second person? Then appointing to it takes two people. */
bool role_takes_two(enum role role);

extern const struct stmt *const second_person_stmts[];
