/* SPDX-License-Identifier: Apache-2.0 */
/* lease_wire.h - what a worker and falaj-api say to each other about a lease, as structs and their schemas.
 *
 *     register -> (next -> keys -> [certificate] -> [outputs, upload] -> report*)*
 *
 * Both ends read and write by these schemas (core/json) and by nothing else: a member is one field here. The API refuses what it
 * does not know in a request; a worker passes over what it does not know in an answer (json_decode_reply), so the API is upgraded
 * first. F_REQ in an answer marks what a worker cannot do without.
 * grant and input are also rows of the scheduler's statements, which is what F_NOCOL and F_NOOUT are for.
 * Not here: the bytes of objects, and the messages that carry keys (release_wire.h). */
#pragma once
#include "core/table/schema.h"

enum { LEASE_ITEMS_MAX = 2000, LEASE_LINES_MAX = 1000, LEASE_NOTICES_MAX = 400, LEASE_OUTPUTS_MAX = 64, LEASE_MESSAGE_MAX = 1024,
       LEASE_RESULT_MAX = 262144, LEASE_TEXT_MAX = 8192, LEASE_VALUES_MAX = 4096, LEASE_OUTPUT_NAME_MAX = 63,
       LEASE_PART_MAX = 8 << 20, LEASE_OUTPUT_MAX = 1 << 30 /* bytes of one part, sealed, and of a whole output's content */ };
/* Bytes of a checkpoint's content: the largest model, two moments of its optimiser, the best one so far, and their names. */
#define LEASE_ENERGY_MAX INT64_C(1000000000000000)       /* millijoules of a lease: 278 MWh */
#define LEASE_CHECKPOINT_MAX (INT64_C(4) * LEASE_OUTPUT_MAX + (INT64_C(64) << 20))

/* A GPU of a machine. Its index is what CUDA counts by; isolation says how jobs with shares of it are kept apart, if at all. */
enum gpu_isolation { GPU_NONE, GPU_MIG, GPU_MPS };
extern const char *const gpu_isolation_names[];
struct node_device {
    int64_t index;
    struct str uuid, model;
    int64_t memory_bytes;
    int isolation;                      /* enum gpu_isolation */
};
extern const struct schema node_device_schema;
/* For .check: a model's name, or nothing. */
bool check_gpu_model(struct str s, const char **why);
/* For .check: names and versions between commas, or nothing. */
bool check_engines(struct str s, const char **why);
#define ENGINES_PATTERN "^([a-z0-9][a-z0-9.+ -]*(,[a-z0-9][a-z0-9.+ -]*)*)?$"
#define GPU_MODEL_PATTERN "^([A-Za-z0-9][A-Za-z0-9._-]{0,62})?$"

/* POST /v1/nodes/register */
struct node_register {
    struct str name, zone, pool;
    int64_t slots, cpus, memory_bytes, gpus;
    int64_t cpu_milli;                  /* 0: cpus thousands */
    struct slice devices;               /* struct node_device: none, or as many as gpus, in order of index, of one model */
    bool programs;                      /* it starts programs of tenants; agents of the release before do not say */
    bool gang_programs;                 /* it runs parts of programs on several machines */
    bool gangs;                         /* it runs parts of jobs on several machines; those of the release before do not */
    struct str engines;                 /* libraries that compute models outside our operations, between commas, each a name and
                                         * a version: "onnxruntime 1.30.0"; empty: none, or of the release before */
    struct str backend, version;
    struct uuid boot_id;
};
struct node_registered {
    struct uuid node_id;
    int64_t heartbeat_ms, lease_ms;
};
extern const struct schema node_register_schema, node_registered_schema;

/* POST /v1/leases/next */
struct lease_next_in {
    struct uuid node_id, boot_id;
    int64_t free_slots, max, wait_ms;
    struct uuid after;                  /* the greatest attempt taken before; UUID_LEAST: none. Nil: it does not say */
    struct slice told;                  /* struct uuid: attempts that have had their notice */
};
/* Somebody wants the attempt to end. */
struct lease_notice {
    struct uuid attempt_id;
    bool cancel;
    int64_t preempt_ms;                 /* it makes room: a checkpoint, and an end within so long; 0: no */
    struct str reason;
};
struct lease_input {
    struct uuid tenant_id, job_id;      /* of the row; not on the wire */
    struct str name;
    struct uuid object_id;
    struct str kind;
    int64_t version, size_bytes;
    struct str sha256;                  /* of the plaintext, hex */
    struct uuid owner_id;               /* the tenant that it is sealed for, where that is another's: a shared image; else nil */
};
static inline struct uuid lease_input_owner(const struct lease_input *in, struct uuid tenant)
{
    return uuid_is_nil(in->owner_id) ? tenant : in->owner_id;
}
/* What a worker needs to run an attempt. */
struct lease_grant {
    struct uuid tenant_id, attempt_id, job_id;
    int64_t fence;
    struct str kind, name, zone;
    struct json spec;
    int64_t slots, gpus, lease_ms, max_runtime_s;
    int64_t cpu_milli, memory_bytes;    /* what it may use; 0: what its slots stand for on this machine */
    int64_t gpu_milli, devices;         /* thousandths of each of its devices; devices bit by bit */
    struct slice inputs;                /* struct lease_input */
    int64_t rank, nodes;                /* which of so many machines it is; 0 of 1: the only one */
};
static inline bool lease_grant_is_gang(const struct lease_grant *g) { return g->nodes > 1; }
/* How many of the inputs come with the lease; those behind are checkpoints, fetched when they are wanted. */
size_t lease_grant_files(const struct lease_grant *g);
/* Somebody is to be let into the attempt's box; the machine calls for it (inside_wire.h). */
struct lease_session { struct uuid attempt_id, session_id; };
struct lease_next_out { struct slice leases, notices, sessions; };    /* struct lease_grant; lease_notice; lease_session */
extern const struct schema lease_notice_schema, lease_session_schema, lease_next_in_schema, lease_input_schema,
                            lease_grant_schema, lease_next_out_schema;

/* POST /v1/leases/{attempt_id}/gang: the machines of a job on several meet. Each says where it listens, and asks again until all
 * have said it; only then is the list there. */
enum { GANG_NODES_MAX = 8 };
struct lease_gang_in {
    struct uuid attempt_id, tenant_id;
    int64_t fence;
    struct str endpoint;                /* host:port */
};
struct lease_gang_member {
    int64_t rank;
    struct str endpoint, identity;      /* of its certificate for this lease */
};
struct lease_gang_out {
    int64_t missing;                    /* so many have not said where they listen */
    struct slice members;               /* struct lease_gang_member, by rank; none while some are missing */
    struct str authority_pem;           /* who signed their certificates; with members */
};
extern const struct schema lease_gang_in_schema, lease_gang_member_schema, lease_gang_out_schema;

/* POST /v1/leases/report */
enum lease_event { LE_RENEW, LE_START, LE_SUCCEED, LE_FAIL, LE_CANCEL, LE_TIMEOUT, LE_OOM, LE_RETURN, LE_PREEMPT, LE_COUNT };
extern const char *const lease_event_names[];
struct lease_log { struct str stream, text; };
struct lease_metric { int64_t step; struct json values; };
struct lease_output { struct str name; struct uuid object_id; };
struct lease_item {
    struct uuid tenant_id, attempt_id;
    int64_t fence;
    int event;                          /* enum lease_event */
    bool has_exit_code;
    int64_t exit_code;
    bool has_cpu_mj, has_gpu_mj;
    int64_t cpu_mj, gpu_mj;             /* energy measured, in millijoules: of an end, and of any word of a gang's machine */
    bool has_idle_ms;
    int64_t idle_ms;                    /* what it has was not used for so long; 0: it is again. Absent: nothing new of it */
    bool has_held_ms;
    int64_t held_ms;                    /* in the first word about a lease: taken so long ago */
    struct str message, endpoint;
    struct json result;
    struct slice outputs, logs, metrics;
};
struct lease_report_in {
    struct uuid node_id, boot_id;
    bool has_dropped;
    int64_t dropped;                    /* what this agent gave up telling since the last report, because the API refused it */
    struct slice items;                 /* struct lease_item, in the order in which it happened */
};
struct lease_verdict {
    struct uuid attempt_id;
    struct str verdict;                 /* "ok" or "stale" */
    bool cancel;
    int64_t lease_ms;
    int64_t preempt_ms;                 /* as in a notice */
    struct str reason;
};
struct lease_report_out { struct slice items; };    /* struct lease_verdict, one per item */
extern const struct schema lease_log_schema, lease_metric_schema, lease_output_schema, lease_item_schema, lease_report_in_schema,
                           lease_verdict_schema, lease_report_out_schema;

/* POST /v1/leases/{attempt_id}/keys: the keys of inputs, sealed to the worker's public key (release_wire.h) */
struct lease_keys_in {
    struct uuid attempt_id, tenant_id;
    int64_t fence;
    struct bytes public_key;
    struct slice objects;               /* struct uuid */
};
struct lease_keys_out {
    struct bytes message;
    int64_t not_after_us;
    struct str zone;
    struct slice key_ids;               /* struct uuid, in the order of the objects */
};
extern const struct schema lease_keys_in_schema, lease_keys_out_schema;

/* POST /v1/leases/kept: which of the images that a machine keeps unpacked may it keep? Each is named by a job of the machine's
 * that ran in it, and the object it came from. The answer has those that a lease of that job would get the key of now. */
enum { LEASE_KEPT_MAX = 64 };
struct lease_kept { struct uuid tenant_id, job_id, object_id; };
struct lease_kept_in { struct slice images; };      /* struct lease_kept */
struct lease_kept_out { struct slice images; };
extern const struct schema lease_kept_schema, lease_kept_in_schema, lease_kept_out_schema;

/* POST /v1/leases/{attempt_id}/certificate: of the process that serves this lease, for a key that it made itself; asked again to
 * renew it */
struct lease_cert_in {
    struct uuid attempt_id, tenant_id;
    int64_t fence;
    struct str csr_pem;
};
struct lease_cert_out {
    struct str certificate_pem, identity;
    struct timestamp not_after;
};
extern const struct schema lease_cert_in_schema, lease_cert_out_schema;

/* POST /v1/leases/{attempt_id}/outputs: where an output goes, and its key */
enum lease_output_kind { LO_MODEL, LO_CHECKPOINT, LO_ARTIFACT, LO_DATASET };
extern const char *const lease_output_kinds[];
struct lease_output_in {
    struct uuid attempt_id, tenant_id;
    int64_t fence;
    struct str name;
    int kind;                           /* enum lease_output_kind */
    struct bytes public_key;
};
struct lease_output_out {
    struct uuid object_id;
    int64_t version, part_bytes_max;
    struct bytes message;
    int64_t not_after_us;
    struct str zone;
    struct slice key_ids;               /* the one key's id */
};
extern const struct schema lease_output_in_schema, lease_output_out_schema;

/* POST /v1/leases/{attempt_id}/checkpoints: a place for one, as an output has; its bytes go to …/outputs/{object_id}; then
 * POST …/checkpoints/{object_id}: it is whole and counts. What the next attempt may go on from stands among its lease's inputs,
 * kind
 * LEASE_CHECKPOINT, behind all others and the newest first. */
#define LEASE_CHECKPOINT "checkpoint"
struct lease_checkpoint_in {
    struct uuid attempt_id, tenant_id;
    int64_t fence;
    struct bytes public_key;
};
struct lease_checkpoint_keep {
    struct uuid attempt_id, object_id, tenant_id;
    int64_t fence, step;
};
extern const struct schema lease_checkpoint_in_schema, lease_checkpoint_keep_schema;

/* GET /v1/leases/{attempt_id}/objects/{object_id}, PUT …/outputs/{object_id}: sealed bytes, of an output in parts and in order;
 * path and query name the lease */
struct lease_object_ref {
    struct uuid attempt_id, object_id, tenant_id;
    int64_t fence;
};
struct lease_upload_in {
    struct uuid attempt_id, object_id, tenant_id;
    int64_t fence, size, offset;        /* of the content; of this part in the sealed bytes */
    struct str sha256;
};
extern const struct schema lease_object_ref_schema, lease_upload_in_schema;

/* GET /v1/leases/{attempt_id}/sessions/{session_id}, as a WebSocket (inside_wire.h) */
struct lease_session_ref {
    struct uuid attempt_id, session_id, tenant_id;
    int64_t fence;
};
extern const struct schema lease_session_ref_schema;
