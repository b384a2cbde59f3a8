/* SPDX-License-Identifier: Apache-2.0 */
/* type_pull.c - the spec of a pull. */
#include "core/wire/type_pull.h"
#include "core/wire/image_ref.h"
#include "core/wire/type_run.h"

const char *const pull_reach_names[] = { "public", "private", "local", NULL };

SCHEMA_EXTERN(pull_job, "A job that brings an image from a registry and checks it; POST /v1/environments makes it",
    FIELD(pull_job, registry, F_REQ, .max = IMAGE_HOST_MAX, .check = check_image_host, .doc = "The registry, HOST[:PORT]"),
    FIELD(pull_job, repository, F_REQ, .min = 1, .max = IMAGE_NAME_MAX, .doc = "The image's name there"),
    FIELD(pull_job, digest, F_REQ, .min = 71, .max = 71, .check = run_check_digest, .doc = "Its manifest, or list of such"),
    FIELD_STRS(pull_job, secrets, 0, .max = 1, .doc = "The secret that it is asked with, NAME@VERSION, or none"),
    FIELD(pull_job, allow_setuid, 0, .dflt = "false", .doc = "Take files with setuid and setgid bits, without these bits"),
    FIELD(pull_job, is_allowed, F_DERIVED, .dflt = "false", .doc = "The zone lets images come from there; said to a lease"),
    FIELD_STRS(pull_job, hosts, F_DERIVED, .max = PULL_HOSTS_MAX, .doc = "Hosts that it may send to; said to a lease"),
    FIELD(pull_job, ca_pem, F_DERIVED, .max = PULL_CA_MAX, .dflt = "", .doc = "Who vouches for it, PEM; said to a lease"),
    FIELD_ENUM(pull_job, reach, F_DERIVED, pull_reach_names, .dflt = "public",
               .doc = "Which addresses it may have; said to a lease"),
    FIELD(pull_job, max_bytes, F_DERIVED, .min = 0, .max = PULL_BYTES_MAX, .dflt = "0", .doc = "Most bytes; said to a lease"),
    FIELD(pull_job, silent_s, F_DERIVED, .min = 0, .max = PULL_SILENT_MAX_S, .dflt = "0",
          .doc = "Seconds in which something must come; said to a lease"));
