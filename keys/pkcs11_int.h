/* SPDX-License-Identifier: Apache-2.0 */
/* pkcs11_int.h - one token as a key store: its connection, and what is done in a session of it.
 *
 *     p11_run(p, op, arg, e)          (pkcs11_session.c) takes a session, connecting when there is none, and calls
 *     op(s, arg, e)                   (pkcs11.c, pkcs11_object.c), which makes its calls through
 *     p11_keys_load, p11_find, …      (pkcs11_key.c)  and  p11_gcm_seal, p11_kwp_wrap, … (pkcs11_mech.c)
 *
 * What goes wrong in a session is said with p11_bad, which decides: the connection is lost (made anew, and the op run once more),
 * the token is in trouble (counts for the breaker), or neither. No length and no count that a module gives is used before it was
 * compared with the room there is. Lock order: p->lock, then the module's. */
#pragma once
#include "keys/pkcs11_module.h"
#include "keys/provider.h"

enum { P11_SESSIONS_MAX = 16, P11_ROOTS_MAX = 64, P11_LABEL_MAX = OBJECT_LABEL_MAX };

enum p11_mech { P11_NONE, P11_GCM, P11_KWP };

struct p11_root {
    uint32_t version;
    CK_OBJECT_HANDLE key;
};

/* What was found in the token; handles are good for one connection. */
struct p11_keys {
    struct p11_root roots[P11_ROOTS_MAX];       /* versions rising */
    uint32_t n_roots;
    CK_OBJECT_HANDLE sign, ca, import;          /* 0: none */
    uint8_t public_key[ED25519_PUBLIC];
    uint8_t ca_point[P256_POINT], import_point[P256_POINT];
};

struct p11_session {
    CK_FUNCTION_LIST *f;
    CK_SESSION_HANDLE h;
    CK_SLOT_ID slot;
    uint64_t epoch, generation;
    struct p11_keys keys;                       /* as they were when the session was taken */
    enum p11_mech mech;                         /* of new wraps */
    CK_MECHANISM_TYPE kwp;                      /* 0: the token has no RFC 5649 */
    bool has_gcm, has_random;
    bool is_lost, is_trouble;                   /* set by p11_bad */
};

struct p11 {
    struct provider_config config;              /* its texts are borrowed; is_init and is_rotate end with the first connection */
    CK_FUNCTION_LIST *list;                     /* instead of a file, in tests */
    pthread_mutex_t lock;                       /* everything below */
    pthread_cond_t given_back;
    struct p11_module *module;
    bool is_connected, is_pin_refused;
    uint64_t epoch;                             /* counts connections */
    struct p11_session now;                     /* the pattern of a session of this connection; h keeps the login alive */
    CK_SESSION_HANDLE idle[P11_SESSIONS_MAX];
    int n_idle, n_open;
    struct attest attest;                       /* as of the last connection; reason as of the last failure */
    int failures;                               /* in a row */
    int64_t closed_until_us, pause_us;          /* the breaker: no attempt before; how long the next pause is */
    pthread_mutex_t manage;                     /* keys are made and destroyed one at a time; taken before lock */
};

typedef enum errc (*p11_op)(struct p11_session *s, void *arg, struct err *e);

/* SEALED with the reason when the token cannot be used. is_rw: in a session that may change the token. */
MUST_CHECK enum errc p11_run(struct p11 *p, bool is_rw, p11_op op, void *arg, struct err *e);
/* After keys were made or destroyed. */
MUST_CHECK enum errc p11_reload_keys(struct p11 *p, struct err *e);
void p11_disconnect(struct p11 *p);
/* what: the function of the module. Always an error: SEALED. */
enum errc p11_bad(struct p11_session *s, CK_RV rv, const char *what, struct err *e);
/* A reply that no token may give. */
enum errc p11_nonsense(struct p11_session *s, const char *what, struct err *e);
/* The slot of the one token with that label, and its description; NOT_FOUND: none. */
MUST_CHECK enum errc p11_slot_find(CK_FUNCTION_LIST *f, const char *label, CK_SLOT_ID *ret, CK_TOKEN_INFO *ret_info,
                                   struct err *e);
/* n bytes padded with blanks or NUL as printable text into out. */
void p11_text(const unsigned char *in, size_t n, char *out, size_t cap);

/* ---- keys in the token (pkcs11_key.c) ---- */
/* Read all keys of the zone; with config.is_init make what is missing, with is_rotate a new root. Fills s->keys and the
 * attest. */
MUST_CHECK enum errc p11_keys_load(struct p11_session *s, const struct provider_config *c, struct attest *a, struct err *e);
/* At most 2 handles are looked for. */
MUST_CHECK enum errc p11_find(struct p11_session *s, CK_ATTRIBUTE *template, CK_ULONG n, CK_OBJECT_HANDLE *ret, CK_ULONG max,
                              CK_ULONG *ret_n, struct err *e);
/* At most cap bytes; *ret_n of them were there. */
MUST_CHECK enum errc p11_get(struct p11_session *s, CK_OBJECT_HANDLE key, CK_ATTRIBUTE_TYPE type, void *out, CK_ULONG cap,
                             CK_ULONG *ret_n, struct err *e);
/* An AES-256 key that never leaves the token. */
MUST_CHECK enum errc p11_aes_new(struct p11_session *s, const char *label, const void *id, CK_ULONG id_len, CK_OBJECT_HANDLE *ret,
                                 struct err *e);
MUST_CHECK enum errc p11_root_make(struct p11_session *s, struct str zone, uint32_t version, CK_OBJECT_HANDLE *ret,
                                   struct err *e);
MUST_CHECK enum errc p11_objects_with_label(struct p11_session *s, const char *label, const uint8_t *id, CK_OBJECT_HANDLE ret[2],
                                            CK_ULONG *ret_n, struct err *e);

/* Operations (p11_op): the keys that were found, into a struct p11_keys; one key out of the token. */
MUST_CHECK enum errc p11_read_keys(struct p11_session *s, void *arg, struct err *e);
MUST_CHECK enum errc p11_destroy(struct p11_session *s, CK_OBJECT_HANDLE key, struct err *e);

/* ---- keys of single tenants (pkcs11_object.c): functions of struct key_provider ---- */
MUST_CHECK enum errc p11_import_public(void *p, uint8_t ret_point[P256_POINT], struct err *e);
MUST_CHECK enum errc p11_import_open(void *p, const uint8_t ephemeral[P256_POINT], const uint8_t sealed[IMPORT_SEALED],
                                     const struct aad *aad, struct secret32 *ret, struct err *e);
MUST_CHECK enum errc p11_object_new(void *p, struct key_object *o, struct err *e);
MUST_CHECK enum errc p11_object_destroy(void *p, const char *label, bool *ret_was_there, struct err *e);

/* ---- mechanisms (pkcs11_mech.c) ---- */
/* Tries the mechanisms with a key and decides s->mech by the choice. */
MUST_CHECK enum errc p11_mech_probe(struct p11_session *s, enum wrap_choice choice, CK_OBJECT_HANDLE key, struct err *e);
MUST_CHECK enum errc p11_wrap(struct p11_session *s, CK_OBJECT_HANDLE with, const struct blob_head *head,
                              const struct aad *binding,
                              const struct secret32 *key, struct key_blob *ret, struct err *e);
/* DAMAGED, after the token has shown that it still works with that key. */
MUST_CHECK enum errc p11_unwrap(struct p11_session *s, CK_OBJECT_HANDLE with, const struct blob_head *head,
                                const struct aad *binding, const struct key_blob *blob, struct secret32 *ret, struct err *e);
MUST_CHECK enum errc p11_sign(struct p11_session *s, const void *bytes, size_t n, uint8_t ret[ED25519_SIG], struct err *e);
MUST_CHECK enum errc p11_ecdsa(struct p11_session *s, const uint8_t digest[32], uint8_t ret[64], struct err *e);
MUST_CHECK enum errc p11_ecdh(struct p11_session *s, const uint8_t peer[P256_POINT], struct secret32 *ret, struct err *e);
const char *p11_mech_name(enum p11_mech m);

/* ---- a new token (pkcs11_init.c) ---- */
/* Initialise the first blank token of the module with this label, SO PIN and user PIN; EXISTS: there is a token of that label. */
MUST_CHECK enum errc p11_token_init(const char *module, const char *label, const char *pin_file, const char *so_pin_file,
                                    struct err *e);
