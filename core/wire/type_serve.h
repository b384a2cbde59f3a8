/* SPDX-License-Identifier: Apache-2.0 */
/* type_serve.h - the spec of a serving job, made by a deployment. */
#pragma once
#include "core/wire/job_type.h"

struct serve_job {
    struct str name;                /* of the deployment: what clients call */
    struct uuid model_id;
    int64_t model_version;
    struct uuid model_object_id;
};
