/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_int.h - one request under way, and the verbs about roots and stores. (verbs.c holds the table and the other verbs) */
#pragma once
#include "keys/custody.h"
#include "keys/keyd_wire.h"

struct call {
    struct keyd *k;
    struct wire_in in;
    struct buf *out;
    struct uuid tenant, subject;        /* for the log: whose, and which object, key or job */
};

/* The request has been read whole, or MALFORMED. */
enum errc call_read_all(const struct call *c, struct err *e);

enum errc verb_root_new(struct call *c, struct err *e);
enum errc verb_root_destroy(struct call *c, struct err *e);
enum errc verb_import_public(struct call *c, struct err *e);
enum errc verb_tkek_import(struct call *c, struct err *e);
enum errc verb_sovereign_new(struct call *c, struct err *e);
enum errc verb_sovereign_destroy(struct call *c, struct err *e);
enum errc verb_attest(struct call *c, struct err *e);
enum errc verb_forget(struct call *c, struct err *e);
