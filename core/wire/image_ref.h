/* SPDX-License-Identifier: Apache-2.0 */
/* image_ref.h - an image in a registry, as people write it: [docker://]HOST[:PORT]/NAME@sha256:DIGEST.
 *
 * Pure text: nothing is asked of anybody. What names no digest is refused, and told how to get one: a tag may mean another image
 * tomorrow. A host is lower-case letters, digits, '-' and '.', or an IPv6 address in brackets is refused: rows of registries are
 * names. The parts point into the text. Source: OCI distribution-spec 1.1, "Pulling manifests" (the form of <name>). */
#pragma once
#include <stdbool.h>
#include "core/base/err.h"
#include "core/base/str.h"

enum { IMAGE_HOST_MAX = 255 + 6, IMAGE_NAME_MAX = 255, IMAGE_REF_MAX = 640, IMAGE_HTTPS = 443 };

struct image_ref { struct str host /* with its port, where one is said */, name, digest; };

/* INVALID says what is wrong and what is wanted. */
MUST_CHECK enum errc image_ref_parse(struct str text, struct image_ref *ret, struct err *e);

/* HOST[:PORT], as rows and references have it. */
bool image_host_parse(struct str text, struct str *ret_host, int *ret_port);
/* For .check. */
bool check_image_host(struct str s, const char **why);
/* Do both mean the same place? 443 is what is meant without a port. */
bool image_host_eq(struct str a, struct str b);
