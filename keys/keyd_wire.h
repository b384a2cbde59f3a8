/* SPDX-License-Identifier: Apache-2.0 */
/* keyd_wire.h - the messages between falaj-keyd and its clients: binary, length prefixed, bounded, versioned.
 *
 * A frame is u32 length (of what follows, at most 1 MiB) | u8 version = 1 | u8 kind | body; integers are big endian. kind is the
 * verb in a request and 0 (done) or 1 (refused) in a reply. Texts and blobs are u16 length || bytes; what is signed has a u32
 * length. A refusal is the wire code of the error and its message. Requests:
 *   HEALTH, PUBLIC_KEY  zone                                       SIGN  zone, bytes
 *   TKEK_NEW            tkek_ref                                   TKEK_REWRAP  tkek_ref, blob
 *   DEK_NEW             tkek_ref, blob, dek_ref, u8 show           DEK_OPEN     tkek_ref, blob, dek_ref, wrapped
 *   DEK_REWRAP          tkek_ref, blob, tkek_ref, blob, dek_ref, wrapped
 *   RELEASE             terms, u8 n, n x (tkek_ref, blob, dek_ref, wrapped)
 *   ROOT_NEW            zone, tenant 16                            ROOT_DESTROY zone, tenant 16, u32 version
 *   IMPORT_PUBLIC       zone                                       TKEK_IMPORT  tkek_ref, ephemeral 65, sealed 60
 *   SOVEREIGN_NEW, SOVEREIGN_DESTROY  tkek_ref                     ATTEST, FORGET  zone
 * (tenant: nil for the zone's own root, else the tenant whose root is in a token of its own.)
 *   CA_SIGN             zone, pool, name, lease, u32 seconds, request (PEM)   CA_PUBLIC  zone
 * Reading never goes past the end: a reader that met a wrong length is `bad`, gives zeros, and wire_done says so.
 * What is read as struct str points into the frame. Frames with keys are wiped by whoever owns the buffer. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/str.h"
#include "core/wire/release_wire.h"
#include "keys/attest.h"
#include "keys/hierarchy.h"

enum {
    KEYD_VERSION = 1,
    KEYD_FRAME_MAX = 1 << 20,
    KEYD_HEAD = 6,
    KEYD_REPLY_MAX = 8192,
    KEYD_SIGN_MAX = 64 * 1024
};
enum keyd_kind {
    KEYD_DONE = 0,
    KEYD_REFUSED = 1,
    KEYD_HEALTH = 16,
    KEYD_TKEK_NEW,
    KEYD_TKEK_REWRAP,
    KEYD_DEK_NEW,
    KEYD_DEK_OPEN,
    KEYD_DEK_REWRAP,
    KEYD_RELEASE,
    KEYD_SIGN,
    KEYD_PUBLIC_KEY,
    KEYD_ROOT_NEW,
    KEYD_ROOT_DESTROY,
    KEYD_IMPORT_PUBLIC,
    KEYD_TKEK_IMPORT,
    KEYD_SOVEREIGN_NEW,
    KEYD_SOVEREIGN_DESTROY,
    KEYD_ATTEST,
    KEYD_FORGET,
    KEYD_CA_SIGN,
    KEYD_CA_PUBLIC,
    KEYD_KIND_END
};

/* Writing: begin, fields, end (false: the frame became too long). */
void wire_begin(struct buf *b, uint8_t kind);
bool wire_end(struct buf *b);
void wire_put_u8(struct buf *b, uint8_t v);
void wire_put_u32(struct buf *b, uint32_t v);
void wire_put_u64(struct buf *b, uint64_t v);
void wire_put_raw(struct buf *b, const void *p, size_t n);
void wire_put_text(struct buf *b, struct str s);
void wire_put_tkek(struct buf *b, const struct tkek_ref *t);
void wire_put_dek(struct buf *b, const struct dek_ref *d);
void wire_put_blob(struct buf *b, const struct key_blob *k);
void wire_put_terms(struct buf *b, const struct release_terms *t);
void wire_put_attest(struct buf *b, const struct attest *a);

struct wire_in {
    const uint8_t *p;
    size_t n, at;
    bool bad;
};
/* frame: version, kind and body, without the length. False: not this version. */
bool wire_open(struct wire_in *in, const void *frame, size_t n, uint8_t *ret_kind);
bool wire_done(const struct wire_in *in);                       /* all read, nothing bad */
uint8_t wire_u8(struct wire_in *in);
uint32_t wire_u32(struct wire_in *in);
uint64_t wire_u64(struct wire_in *in);
void wire_raw(struct wire_in *in, void *out, size_t n);
struct str wire_run(struct wire_in *in, size_t n);              /* n bytes in place */
struct str wire_text(struct wire_in *in);
void wire_tkek(struct wire_in *in, struct tkek_ref *ret);
void wire_dek(struct wire_in *in, struct dek_ref *ret);
void wire_blob(struct wire_in *in, struct key_blob *ret);
void wire_terms(struct wire_in *in, struct release_terms *ret);
void wire_attest(struct wire_in *in, struct attest *ret);
/* A text of at most cap - 1 bytes into ret, NUL-terminated; a longer one is bad. */
void wire_text_into(struct wire_in *in, char *ret, size_t cap);

/* One frame from or to a non-blocking socket, by a deadline on CLOCK_MONOTONIC (microseconds). WIRE_END: the other side closed
 * before the first byte. stop_fd may be -1. */
enum wire_io { WIRE_OK, WIRE_END, WIRE_BROKEN, WIRE_LATE, WIRE_TOO_LONG };
int64_t wire_now_us(void);
enum wire_io wire_send(int fd, const struct buf *frame, int64_t deadline_us);
/* The first byte may wait until idle_until_us, the rest until in_frame_us after it. b holds version, kind and body afterwards. */
enum wire_io wire_receive(int fd, struct buf *b, int64_t idle_until_us, int64_t in_frame_us);
