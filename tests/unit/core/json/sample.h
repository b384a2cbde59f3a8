/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h - a job-like struct with one field of every kind, shared by the tests of decode, encode and the JSON Schema. */
#pragma once
#include "core/table/schema.h"

struct input {
    struct str name;
    int64_t bytes;
};

struct limits {
    int64_t cpus;
    double weight;
};

struct sample {
    struct uuid job_id, plain_id, tenant_id;
    struct str name, password, note, who;
    int state;
    bool is_urgent;
    int32_t priority;
    int64_t gpus, seed;
    bool has_seed;
    double ratio;
    struct timestamp made_at;
    struct json params;
    struct bytes blob;
    struct limits limits;
    struct slice inputs, tags, rates, counts, ids, states;
};

static const char *const sample_states[] = { "queued", "running", "done", NULL };

SCHEMA_OF(input, "One input", FIELD(input, name, F_REQ, .min = 1, .max = 8, .doc = "Its name"),
          FIELD(input, bytes, 0, .min = 0, .max = 1000, .doc = "Its size"));
SCHEMA_OF(limits, "Limits", FIELD(limits, cpus, 0, .min = 1, .max = 64, .dflt = "2", .doc = "CPUs"),
          FIELD(limits, weight, 0, .doc = "Weight"));
SCHEMA_OF(sample, "A job and its state",
          FIELD_ID(sample, job_id, "job", 0, .doc = "The job"),
          FIELD(sample, plain_id, 0, .doc = "A plain UUID"),
          FIELD_ID(sample, tenant_id, "ten", F_PATH, .doc = "The tenant"),
          FIELD(sample, name, F_REQ, .min = 1, .max = 16, .check = check_slug, .doc = "Name", .example = "train-1"),
          FIELD(sample, password, F_SECRET, .doc = "Never printed"),
          FIELD(sample, note, F_NULLOUT, .doc = "Free text"),
          FIELD(sample, who, F_QUERY, .doc = "From the query"),
          FIELD_ENUM(sample, state, 0, sample_states, .dflt = "running", .doc = "State"),
          FIELD(sample, is_urgent, 0, .doc = "Urgent"),
          FIELD(sample, priority, 0, .min = -10, .max = 10, .doc = "Priority"),
          FIELD(sample, gpus, 0, .max = 64, .dflt = "1", .doc = "GPUs"),
          FIELD_OPT(sample, seed, 0, .doc = "Seed"),
          FIELD(sample, ratio, 0, .doc = "Ratio"),
          FIELD(sample, made_at, 0, .doc = "When"),
          FIELD(sample, params, 0, .max = 200, .doc = "Anything"),
          FIELD(sample, blob, 0, .max = 16, .doc = "Bytes"),
          FIELD_SUB(sample, limits, &limits_schema, 0, .doc = "Limits"),
          FIELD_LIST(sample, inputs, &input_schema, 0, .max = 4, .doc = "Inputs"),
          FIELD_STRS(sample, tags, 0, .max = 4, .doc = "Labels"),
          FIELD_F64S(sample, rates, 0, .doc = "Rates"),
          FIELD_I64S(sample, counts, 0, .doc = "Counts"),
          FIELD_IDS(sample, ids, "inp", 0, .doc = "Ids"),
          FIELD_ENUMS(sample, states, 0, sample_states, .doc = "States"));
