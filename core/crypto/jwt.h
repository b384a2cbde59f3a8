/* SPDX-License-Identifier: Apache-2.0 */
/* jwt.h - the one door for signed tokens of identity providers: RS256 and ES256 only, against pinned keys that carry their
 * algorithm.
 *
 * libjwt takes the algorithm from the token, accepts an RSA public key as an HMAC secret and does not look at exp. So the door
 * reads the header itself first and refuses unless alg equals that of the pinned key named by kid; it refuses none, symmetric
 * algorithms, crit, jku, x5u, x5c, jwk, duplicate members and tokens above 8 KiB; only then libjwt checks the signature; then the
 * door checks iss, aud, azp, exp, nbf, iat (60 s of skew) and nonce itself. Every refusal is UNAUTHENTICATED with a short reason.
 * Names start with jws_ because libjwt owns jwt_. Memory: the arena given. Sources: RFC 7515, 7519, 8725. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/arena.h"
#include "core/base/str.h"

enum { JWS_TOKEN_MAX = 8192, JWS_KID_MAX = 64, JWS_LIST_MAX = 64, JWS_SKEW_S = 60 };
enum jws_alg { JWS_RS256, JWS_ES256 };

struct jws_key {
    struct str kid;             /* 1..64 of [A-Za-z0-9._-]; exact match */
    enum jws_alg alg;
    struct str pem;             /* SubjectPublicKeyInfo */
};

struct jws_expect {
    const struct jws_key *keys;
    size_t n_keys;
    struct str issuer;
    struct str audience;
    struct str nonce;           /* absent: not checked */
    int64_t now_us;
};

struct jws_claims {
    struct str sub, iss, email, name, nonce, acr, sid;
    bool email_verified;
    int64_t exp_us, iat_us, nbf_us, auth_time_us;       /* 0: absent (exp and iat never are) */
    struct str groups[JWS_LIST_MAX];
    size_t n_groups;
    struct str payload;         /* the verified JSON text, for claims this struct does not name */
};

/* What a token says of where it comes from, believed by nobody: only to find the keys and the claims it is then checked against. */
enum { JWS_PEEK_AUD = 8 };
struct jws_peek {
    struct str kid, iss, aud[JWS_PEEK_AUD];
    size_t n_aud;
};
MUST_CHECK enum errc jws_peek(struct arena *a, struct str token, struct jws_peek *ret, struct err *e);
MUST_CHECK enum errc jws_check(struct arena *a, struct str token, const struct jws_expect *want, struct jws_claims *ret,
                               struct err *e);
/* Keys of a JWKS: members n and e, or x and y, as base64url. */
MUST_CHECK enum errc jws_key_rsa(struct arena *a, struct str kid, struct str n, struct str exponent, struct jws_key *ret,
                                 struct err *e);
MUST_CHECK enum errc jws_key_p256(struct arena *a, struct str kid, struct str x, struct str y, struct jws_key *ret, struct err *e);
