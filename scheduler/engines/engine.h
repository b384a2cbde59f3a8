/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - a place outside where machines are had for one lease: what it is asked for and what it says, whatever it is.
 *
 * What is submitted is our worker with a join token for one name, good once (ADR 0131). So an engine is never believed about a
 * job: it starts a machine or does not, and the machine's own calls, fences and keys decide all else. A pool without an
 * engine is served by machines that stay.
 * An object at the engine is known by our own unique name (engine_name), which no other try has; the id that the engine gives is
 * a short way to it and may come to mean another object.
 * Calling order: health, submit, look, list, cancel in any order; one thread for each engine. Each call is bounded by
 * ENGINE_CALL_MS. Memory: results live in the call's arena. Errors: UNAVAILABLE and DEADLINE (nothing is known of what became
 * of the call), UPSTREAM (an answer that makes no sense: the same), INVALID (it answered and refused: nothing was taken;
 * of health: it would take nothing, so what is there is looked at and nothing is submitted). */
#pragma once
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/id.h"
#include "core/base/str.h"

/* Bytes of an answer about all objects and of one about one; a turn has many of the latter. A list is read an object at a time
 * (core/json/jsonlist.h), none larger than an answer about one, so a list costs its text once, one object, and what is kept of
 * ours. Values: of an object, because one of two bytes costs two hundred
 * once it is read. ENGINE_OWN_MAX: an arena for an object. */
enum { ENGINE_CALL_MS = 5000, ENGINE_LIST_MAX = 64 << 20, ENGINE_ONE_MAX = 256 << 10, ENGINE_VALUES_MAX = 1 << 16,
       ENGINE_OWN_MAX = 16 << 20, ENGINE_SEEN_MAX = 20000,
       ENGINE_NAME_TEXT = 64, ENGINE_WORD_MAX = 64, ENGINE_SAYS_MAX = 200, ENGINE_MACHINES = 64, ENGINE_VARIABLES = 24 };

/* What an engine's own words come to. */
struct jval;
struct jlist;
enum engine_state {
    ENGINE_WAITS,           /* taken, not started; reason says for what */
    ENGINE_RUNS,
    ENGINE_LEAVES,          /* its end has begun */
    ENGINE_DONE,
    ENGINE_FAILED,
    ENGINE_CANCELLED,
    ENGINE_TIMEOUT,         /* its own limit of time */
    ENGINE_PREEMPTED,
    ENGINE_LOST,            /* its machine; a process may still be running there */
    ENGINE_STRANGE          /* a word that we do not know: it is taken as one that may run */
};
extern const char *const engine_state_names[];
static inline bool engine_has_ended(enum engine_state s)
{
    return s >= ENGINE_DONE && s != ENGINE_STRANGE;
}

/* Of the environment: secrets stand here alone. */
struct engine_variable { const char *name; struct str value; bool is_secret; };

struct engine_ask {
    struct str name, comment;               /* comment: engine_digest of the rest */
    struct str script;                      /* the same text for all, without secrets */
    struct str place;                       /* partition or queue there; empty: its default */
    struct str folder;                      /* where its working directory is */
    struct str image, selector, tolerations;    /* of an engine that starts containers (kube_where.h); else empty */
    struct engine_variable variables[ENGINE_VARIABLES];
    size_t nvariables;
    int64_t machines, cpus, memory_bytes, gpus, minutes;    /* all but minutes and machines: of each machine; 0: not said */
};

struct engine_seen {
    struct str id, name, comment, account, place;
    enum engine_state state;
    struct str word, reason;                /* as it said them, cleaned, at most ENGINE_WORD_MAX bytes */
    int64_t machines, cpus, memory_bytes, minutes;          /* as it stored them; 0: it did not say */
    bool is_leaving;            /* it was told to go, whatever its state: of a lost machine nobody says when it has gone */
    bool is_again;              /* it was begun there before, so its token is used: whatever its state, no machine comes of it */
};

/* Where and as whom. credential: a token; STR_NULL: none is needed (a Unix socket), or cert_file has a certificate and key. */
struct engine_call {
    struct arena *arena;
    struct str address, account;
    const char *ca_file;                    /* NULL: the system's */
    struct str credential;
    const char *cert_file;
    const struct engine_ask *probe;         /* for health: a submission, where it can be asked whether it would take one */
    bool (*is_unwanted)(void *ctx);         /* true: the call is given up */
    void *ctx;
    size_t *ret_large;                      /* of list: how many objects were too large to be read whole; NULL: not asked */
};

struct engine_door {
    const char *kind;
    const char *script;                     /* what its machines begin with */
    bool has_images;                        /* a row names an image, and an account (a namespace) always */
    bool keeps_ended;                       /* what ended stays until cancel removes it; ids are names */
    enum errc (*health)(const struct engine_call *c, struct err *e);
    enum errc (*submit)(const struct engine_call *c, const struct engine_ask *ask, struct str *ret_id, struct err *e);
    /* NULL: it is asked for all at once, which costs it no more. */
    enum errc (*look)(const struct engine_call *c, struct str id, struct engine_seen *ret, bool *ret_found, struct err *e);
    enum errc (*list)(const struct engine_call *c, struct slice *ret, struct err *e);     /* struct engine_seen, ours alone */
    enum errc (*cancel)(const struct engine_call *c, struct str id, struct err *e);       /* gone already: OK */
};
extern const struct engine_door engine_slurm, engine_kube;
/* NULL: no such kind. */
const struct engine_door *engine_door_of(struct str kind);
/* submit and cancel in memory of their own, which ends with them: a turn has many of both, and what an engine answers to each is
 * its own choice. ret_id: in the call's arena. */
enum errc engine_submit(const struct engine_door *door, const struct engine_call *c, const struct engine_ask *ask,
                        struct str *ret_id, struct err *e) MUST_CHECK;
enum errc engine_cancel(const struct engine_door *door, const struct engine_call *c, struct str id, struct err *e) MUST_CHECK;
#define ENGINE_KINDS "slurm or kubernetes"

#define ENGINE_PREFIX "falaj-"
/* falaj-<32 hex digits of the run>-<try> */
void engine_name(struct uuid run_id, int64_t tries, char ret[ENGINE_NAME_TEXT]);
/* False: not a name of ours. */
bool engine_name_read(struct str name, struct uuid *ret_run, int64_t *ret_tries);
/* SHA-256 of what is submitted but the variables' values, hex behind "falaj ": stored there as comment, so a second look tells
 * whether the object is still the one that was sent. */
struct str engine_digest(struct arena *a, const struct engine_ask *ask);
/* A literal naming what differs from what was sent, NULL: nothing. An engine that gives more than was asked for is no liar. */
const char *engine_differs(const struct engine_ask *ask, const struct engine_seen *seen, struct str account);
/* Letters, digits and `_.,()-/ ` of text, at most ENGINE_WORD_MAX. */
struct str engine_word(struct arena *a, struct str text);
/* An answer of an engine, an object; who: whose it is, for the error. UPSTREAM: it is none, or too large. */
enum errc engine_parse(struct arena *a, struct str body, const char *who, const struct jval **ret, struct err *e) MUST_CHECK;
/* Of an object that is larger than ENGINE_ONE_MAX no member longer than this is read, whoever made it. */
enum { ENGINE_MEMBER_MAX = 1024 };
/* A list of one, an item at a time, each in the arena that is given with it, which is reset first: what is kept must be copied.
 * ret_rest: in a, all but the items of the member `name`. UPSTREAM as above. */
enum errc engine_list_open(struct arena *a, struct str body, const char *who, const char *name, struct jlist *ret,
                           const struct jval **ret_rest, struct err *e) MUST_CHECK;
enum errc engine_list_next(struct jlist *l, struct arena *own, const char *who, const struct jval **ret,
                           struct err *e) MUST_CHECK;
/* The same where others' objects stand in the list, too, of any size: of one that is too large *ret has `name` alone, or not even
 * that where it is longer than a name of ours, and *is_large is set. What else is wanted of it, when it is ours,
 * engine_list_narrow reads; the first of names must be in it. */
enum errc engine_list_next_of(struct jlist *l, struct arena *own, const char *who, const char *name, const struct jval **ret,
                              bool *is_large, struct err *e) MUST_CHECK;
enum errc engine_list_narrow(const struct jlist *l, struct arena *own, const char *who, const char *const *names,
                             const struct jval **ret, struct err *e) MUST_CHECK;
/* Room for one more behind n: the array is made anew where n is a power of two. */
void engine_seen_room(struct arena *a, struct engine_seen **rows, size_t n);
/* The same of a sentence, with `:=`, at most ENGINE_SAYS_MAX. */
struct str engine_words(struct arena *a, struct str text);
/* https, http to a loopback address, or unix:/PATH. */
bool engine_address_check(struct str s, const char **why);
