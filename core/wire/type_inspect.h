/* SPDX-License-Identifier: Apache-2.0 */
/* type_inspect.h - the spec of a job that takes an image in as an environment: it is unpacked once, where nothing of it runs. */
#pragma once
#include "core/wire/job_type.h"

struct inspect_job {
    struct uuid dataset_id;
    int64_t dataset_version;
    struct str digest;              /* the image of an archive that has several: "sha256:…"; empty: its only one */
    bool allow_setuid;              /* files with such bits are taken, without them; else they are refused */
};
