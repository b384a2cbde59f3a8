/* SPDX-License-Identifier: Apache-2.0 */
/* type_pull.h - the spec of a job that brings an image from a registry: which one, and what the zone's row of that registry says
 * (scheduler/jobs/registry_host.h), which is written in when a lease is granted and not before. */
#pragma once
#include "core/wire/job_type.h"

/* What the archive is called among the job's outputs, and its credentials among its inputs. */
#define PULL_OUTPUT "image"
#define PULL_CREDENTIALS "registry"
enum { PULL_HOSTS_MAX = 8, PULL_CA_MAX = 16384, PULL_SILENT_S = 30, PULL_SILENT_MAX_S = 600 };
#define PULL_BYTES_MAX (INT64_C(1) << 30)       /* of an archive: what every part of the platform can hold */

/* Which addresses a registry's names may mean. */
enum pull_reach { PULL_PUBLIC, PULL_PRIVATE, PULL_LOCAL };
extern const char *const pull_reach_names[];

struct pull_job {
    struct str registry;            /* HOST[:PORT] */
    struct str repository, digest;
    struct slice secrets;           /* struct str "NAME@VERSION": the one that it is asked with, or none */
    bool allow_setuid;
    /* Of the lease: what the row says by then. */
    bool is_allowed;
    struct slice hosts;             /* struct str: others that redirects and tokens may go to */
    struct str ca_pem;              /* who vouches for all of them; empty: whom the machine believes */
    int reach;                      /* enum pull_reach */
    int64_t max_bytes, silent_s;
};
