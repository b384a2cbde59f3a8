/* SPDX-License-Identifier: Apache-2.0 */
/* type_inspect.c - the spec of an import. */
#include "core/wire/type_inspect.h"
#include "core/wire/type_run.h"

SCHEMA_EXTERN(inspect_job, "A job that checks an image and says what is in it; POST /v1/environments makes it",
    FIELD_ID(inspect_job, dataset_id, "dst", F_REQ, .doc = "The data set that holds the archive (format oci)"),
    FIELD(inspect_job, dataset_version, F_REQ, .min = 1, .max = 1000000, .doc = "Its version"),
    FIELD(inspect_job, digest, 0, .max = 71, .check = run_check_digest, .dflt = "",
          .doc = "Which image of the archive, sha256:…; empty: the only one for this machine"),
    FIELD(inspect_job, allow_setuid, 0, .dflt = "false", .doc = "Take files with setuid and setgid bits, without these bits"));
