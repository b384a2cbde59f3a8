/* SPDX-License-Identifier: Apache-2.0 */
/* lease_wire.c - the schemas of what workers and falaj-api say to each other. */
#include "core/wire/lease_wire.h"
#include "core/wire/enrol_wire.h"
#include "core/wire/release_wire.h"

const char *const lease_event_names[] = { "renew", "start", "succeed", "fail", "cancel", "timeout", "oom", "return", "preempt",
                                          NULL };
const char *const lease_output_kinds[] = { "model", "checkpoint", "artifact", "dataset", NULL };

const char *const gpu_isolation_names[] = { "none", "mig", "mps", NULL };
SCHEMA_EXTERN(node_device, "A GPU of a machine",
    FIELD(node_device, index, F_REQ, .min = 0, .max = 63, .doc = "Its number on the machine, from 0"),
    FIELD(node_device, uuid, 0, .max = 64, .dflt = "", .doc = "Its UUID, as its driver says"),
    FIELD(node_device, model, 0, .max = 63, .dflt = "", .check = check_gpu_model, .pattern_doc = GPU_MODEL_PATTERN,
          .doc = "Its model, as jobs name it"),
    FIELD(node_device, memory_bytes, 0, .min = 0, .max = INT64_MAX, .dflt = "0", .doc = "Its memory"),
    FIELD_ENUM(node_device, isolation, 0, gpu_isolation_names, .dflt = "none",
               .doc = "What keeps jobs with shares of it apart; none: it is given as a whole only"));

bool check_gpu_model(struct str s, const char **why)
{
    *why = "have letters, digits, '.', '_' and '-', first a letter or digit, at most 63";
    bool ok = s.len <= 63;
    for (size_t i = 0; ok && i < s.len; i++) {
        char c = s.ptr[i];
        bool is_alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        ok = is_alnum || (i && (c == '.' || c == '_' || c == '-'));
    }
    return ok;
}

static bool is_words(struct str s)
{
    bool ok = s.len > 0 && s.ptr[0] != ' ' && s.ptr[s.len - 1] != ' ';
    for (size_t i = 0; ok && i < s.len; i++)
        ok = (s.ptr[i] >= 'a' && s.ptr[i] <= 'z') || (s.ptr[i] >= '0' && s.ptr[i] <= '9') ||
             (i && (s.ptr[i] == ' ' || s.ptr[i] == '.' || s.ptr[i] == '-' || s.ptr[i] == '+'));
    return ok;
}

bool check_engines(struct str s, const char **why)
{
    *why = "have names with versions between commas, as onnxruntime 1.30.0, in small letters, at most 255 characters";
    struct str one, rest = s;
    bool ok = s.len <= 255, more = s.len > 0;
    while (ok && more) {
        more = str_cut(rest, ',', &one, &rest);
        ok = is_words(one);
    }
    return ok;
}

SCHEMA_EXTERN(node_register, "A machine that comes up",
    FIELD(node_register, name, F_REQ, .min = 1, .max = 128, .doc = "Name, as in its certificate"),
    FIELD(node_register, zone, F_REQ, .max = 31, .check = check_slug, .doc = "Zone, as in its certificate"),
    FIELD(node_register, pool, F_REQ, .max = 63, .check = check_slug, .doc = "Pool, as in its certificate"),
    FIELD(node_register, slots, F_REQ, .min = 0, .max = 4096, .doc = "Leases of one slot it runs at once"),
    FIELD(node_register, cpus, F_REQ, .min = 1, .max = 65536, .doc = "Processors"),
    FIELD(node_register, memory_bytes, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Memory"),
    FIELD(node_register, gpus, 0, .min = 0, .max = 64, .dflt = "0", .doc = "GPUs"),
    FIELD(node_register, cpu_milli, 0, .min = 0, .max = 4096000, .dflt = "0",
          .doc = "Thousandths of a processor for jobs; 0: all processors"),
    FIELD_LIST(node_register, devices, &node_device_schema, F_NOCOL | F_NOEMPTY, .max = 64,
               .doc = "Its GPUs in order of index, all of one model; absent: gpus without a model"),
    FIELD(node_register, gangs, F_LATE, .dflt = "false", .doc = "It runs parts of jobs on several machines"),
    FIELD(node_register, gang_programs, F_LATE, .dflt = "false",
          .doc = "It runs parts of programs (jobs of kind run) on several machines"),
    FIELD(node_register, programs, F_LATE, .dflt = "true", .doc = "It starts programs of tenants (jobs of kind run)"),
    FIELD(node_register, engines, F_LATE, .max = 255, .dflt = "", .check = check_engines, .pattern_doc = ENGINES_PATTERN,
          .doc = "What computes models outside our operations there, and falaj-rank where mpirun starts ranks: names and "
                 "versions between commas"),
    FIELD(node_register, backend, 0, .max = 32, .dflt = "", .doc = "Compute backend in use"),
    FIELD(node_register, version, F_REQ, .max = 64, .doc = "Version of the agent"),
    FIELD(node_register, boot_id, F_REQ, .doc = "New for each run of the agent"));
SCHEMA_EXTERN(node_registered, "The machine's id and the times that bind it",
    FIELD_ID(node_registered, node_id, "nod", F_REQ, .doc = "The machine"),
    FIELD(node_registered, heartbeat_ms, F_REQ, .min = 1, .max = 3600000, .doc = "Report at least so often"),
    FIELD(node_registered, lease_ms, F_REQ, .min = 1, .max = 3600000, .doc = "Life of a lease without report"));

SCHEMA_EXTERN(lease_next_in, "What a machine has room for",
    FIELD_ID(lease_next_in, node_id, "nod", F_REQ, .doc = "The machine"),
    FIELD(lease_next_in, boot_id, F_REQ, .doc = "This run of its agent"),
    FIELD(lease_next_in, free_slots, F_REQ, .min = 0, .max = 4096, .doc = "Slots free now"),
    FIELD(lease_next_in, max, 0, .min = 1, .max = 1000, .dflt = "64", .doc = "Most leases to give at once"),
    FIELD(lease_next_in, wait_ms, 0, .min = 0, .max = 60000, .dflt = "0",
          .doc = "Wait so long for a lease; more than 10 seconds count as 10"),
    FIELD_ID(lease_next_in, after, "att", 0,
             .doc = "The greatest attempt taken before: leases are then only read, and the first report says that they were taken"),
    FIELD_IDS(lease_next_in, told, "att", F_NOEMPTY, .max = LEASE_NOTICES_MAX, .doc = "Attempts whose notice has come"));
SCHEMA_EXTERN(lease_notice, "Somebody wants an attempt to end",
    FIELD_ID(lease_notice, attempt_id, "att", F_REQ, .doc = "The attempt"),
    FIELD(lease_notice, cancel, 0, .doc = "Somebody asked the job to stop"),
    FIELD(lease_notice, preempt_ms, 0, .doc = "It makes room for another: a checkpoint, and an end within so long; 0: no"),
    FIELD(lease_notice, reason, 0, .doc = "In words"));
SCHEMA_EXTERN(lease_session, "Somebody is to be let into a program's box",
    FIELD_ID(lease_session, attempt_id, "att", F_REQ, .doc = "The attempt"),
    FIELD_ID(lease_session, session_id, "ins", F_REQ, .doc = "The session"));
SCHEMA_EXTERN(lease_input, "An object that the job may read",
    FIELD(lease_input, tenant_id, F_NOOUT | F_NOIN, .doc = "Tenant"), FIELD(lease_input, job_id, F_NOOUT | F_NOIN, .doc = "Job"),
    FIELD(lease_input, name, F_REQ, .doc = "Name in the job"),
    FIELD_ID(lease_input, object_id, "obj", F_REQ, .doc = "The object"),
    FIELD(lease_input, kind, F_REQ, .doc = "Kind of object"),
    FIELD(lease_input, version, F_REQ, .min = 0, .max = UINT32_MAX, .doc = "Version of the object"),
    FIELD(lease_input, size_bytes, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Size of the plaintext"),
    FIELD(lease_input, sha256, 0, .doc = "SHA-256 of the plaintext, hex"),
    FIELD_ID(lease_input, owner_id, "tnt", 0, .doc = "The tenant that it is sealed for; absent: the lease's"));
SCHEMA_EXTERN(lease_grant, "A lease",
    FIELD_ID(lease_grant, tenant_id, "tnt", F_REQ, .doc = "Tenant"),
    FIELD_ID(lease_grant, attempt_id, "att", F_REQ, .doc = "The attempt"),
    FIELD_ID(lease_grant, job_id, "job", F_REQ, .doc = "The job"),
    FIELD(lease_grant, fence, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Number of the attempt; every message bears it"),
    FIELD(lease_grant, kind, F_REQ, .doc = "What to do"), FIELD(lease_grant, name, 0, .doc = "Name of the job"),
    FIELD(lease_grant, zone, 0, .doc = "Zone it runs in"),
    FIELD(lease_grant, spec, 0, .dflt = "{}", .doc = "What was asked, by kind"),
    FIELD(lease_grant, slots, 0, .min = 0, .max = INT64_MAX, .dflt = "1", .doc = "Slots booked"),
    FIELD(lease_grant, gpus, 0, .doc = "GPUs booked"),
    FIELD(lease_grant, cpu_milli, 0, .doc = "Thousandths of a processor that it may use; 0: what its slots stand for"),
    FIELD(lease_grant, memory_bytes, 0, .doc = "Memory that it may use; 0: what its slots stand for"),
    FIELD(lease_grant, gpu_milli, 0, .doc = "Thousandths of each of its devices"),
    FIELD(lease_grant, devices, 0, .doc = "Its devices as a number, bit i for device i"),
    FIELD(lease_grant, lease_ms, 0, .dflt = "30000", .doc = "Life of the lease without a heartbeat"),
    FIELD(lease_grant, max_runtime_s, 0, .doc = "Seconds it may run"),
    FIELD(lease_grant, rank, F_LATE, .min = 0, .max = GANG_NODES_MAX - 1, .dflt = "0",
          .doc = "Which of its job's machines it is"),
    FIELD(lease_grant, nodes, F_LATE, .min = 0, .max = GANG_NODES_MAX, .dflt = "1",
          .doc = "Machines that its job runs on; 0: one"),
    FIELD_LIST(lease_grant, inputs, &lease_input_schema, F_NOCOL | F_NOEMPTY, .doc = "Objects it may read"));
SCHEMA_EXTERN(lease_next_out, "New leases",
    FIELD_LIST(lease_next_out, leases, &lease_grant_schema, F_REQ, .max = 1000, .doc = "Possibly none"),
    FIELD_LIST(lease_next_out, notices, &lease_notice_schema, F_NOEMPTY, .max = LEASE_NOTICES_MAX,
               .doc = "Attempts of this machine that shall end, but those that were told"),
    FIELD_LIST(lease_next_out, sessions, &lease_session_schema, F_NOEMPTY, .max = LEASE_NOTICES_MAX,
               .doc = "Who is to be let into programs of this machine"));

SCHEMA_EXTERN(lease_log, "A line of a log",
    FIELD(lease_log, stream, F_REQ, .max = 16, .doc = "stdout, stderr or system"),
    FIELD(lease_log, text, F_REQ, .max = LEASE_TEXT_MAX, .doc = "The line"));
SCHEMA_EXTERN(lease_metric, "Measured values",
    FIELD(lease_metric, step, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Step of the training"),
    FIELD(lease_metric, values, F_REQ, .max = LEASE_VALUES_MAX, .doc = "Names and numbers"));
SCHEMA_EXTERN(lease_output, "An object that the attempt wrote",
    FIELD(lease_output, name, F_REQ, .min = 1, .max = 64, .doc = "Name in the job"),
    FIELD_ID(lease_output, object_id, "obj", F_REQ, .doc = "The object"));
SCHEMA_EXTERN(lease_item, "What happened to one attempt",
    FIELD_ID(lease_item, tenant_id, "tnt", F_REQ, .doc = "Tenant"),
    FIELD_ID(lease_item, attempt_id, "att", F_REQ, .doc = "The attempt"),
    FIELD(lease_item, fence, F_REQ, .min = 1, .max = INT64_MAX, .doc = "Its number"),
    FIELD_ENUM(lease_item, event, F_REQ, lease_event_names, .doc = "What happened"),
    FIELD_OPT(lease_item, exit_code, 0, .min = -255, .max = 255, .doc = "Exit code of the program"),
    FIELD_OPT(lease_item, cpu_mj, 0, .min = 0, .max = LEASE_ENERGY_MAX,
              .doc = "Of an end, and of each word of one machine of several: millijoules that its processors took; absent: "
                     "not measured"),
    FIELD_OPT(lease_item, gpu_mj, 0, .min = 0, .max = LEASE_ENERGY_MAX,
              .doc = "The same of its GPUs"),
    FIELD_OPT(lease_item, idle_ms, 0, .min = 0, .max = INT64_C(1) << 40,
              .doc = "What it has was not used for so long; 0: it is used again; absent: nothing new, or it is not measured"),
    FIELD_OPT(lease_item, held_ms, 0, .min = 0, .max = 3600000,
              .doc = "In the first word about a lease: it was taken so long ago"),
    FIELD(lease_item, message, 0, .max = LEASE_MESSAGE_MAX, .dflt = "", .doc = "In words"),
    FIELD(lease_item, endpoint, 0, .max = 255, .doc = "host:port of a serving attempt"),
    FIELD(lease_item, result, 0, .max = LEASE_RESULT_MAX, .doc = "What the job gives back"),
    FIELD_LIST(lease_item, outputs, &lease_output_schema, F_NOEMPTY, .max = LEASE_OUTPUTS_MAX,
               .doc = "Objects that a success commits"),
    FIELD_LIST(lease_item, logs, &lease_log_schema, F_NOEMPTY, .max = LEASE_LINES_MAX, .doc = "New lines"),
    FIELD_LIST(lease_item, metrics, &lease_metric_schema, F_NOEMPTY, .max = LEASE_LINES_MAX, .doc = "New values"));
SCHEMA_EXTERN(lease_report_in, "What happened to attempts",
    FIELD_ID(lease_report_in, node_id, "nod", F_REQ, .doc = "The machine"),
    FIELD(lease_report_in, boot_id, F_REQ, .doc = "This run of its agent"),
    FIELD_OPT(lease_report_in, dropped, 0, .min = 0, .max = INT64_MAX, .doc = "Items that were refused before and are given up"),
    FIELD_LIST(lease_report_in, items, &lease_item_schema, F_REQ, .max = LEASE_ITEMS_MAX,
               .doc = "In the order in which it happened"));
SCHEMA_EXTERN(lease_verdict, "What came of one item",
    FIELD_ID(lease_verdict, attempt_id, "att", F_REQ, .doc = "The attempt"),
    FIELD(lease_verdict, verdict, F_REQ, .doc = "ok, or stale: the lease is not held, nothing was written, stop"),
    FIELD(lease_verdict, cancel, 0, .doc = "Somebody asked the job to stop"),
    FIELD(lease_verdict, lease_ms, 0, .doc = "The lease lives so long from now"),
    FIELD(lease_verdict, preempt_ms, 0, .doc = "It makes room for another: a checkpoint, and an end within so long; 0: no"),
    FIELD(lease_verdict, reason, 0, .doc = "Why, in words"));
SCHEMA_EXTERN(lease_report_out, "Verdicts in the order of the items",
    FIELD_LIST(lease_report_out, items, &lease_verdict_schema, F_REQ, .max = LEASE_ITEMS_MAX, .doc = "One per item"));

#define PUBLIC_KEY(T) \
    FIELD(T, public_key, F_REQ, .min = X25519_BYTES, .max = X25519_BYTES, .doc = "X25519 public key made for this lease")
#define KEY_MESSAGE(T, what)                                                                                                \
    FIELD(T, message, F_REQ, .doc = what),                                                                                 \
        FIELD(T, not_after_us, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Not to be opened later, microseconds since 1970"), \
        FIELD(T, zone, F_REQ, .doc = "Zone of the keys"),                                                                  \
        FIELD_IDS(T, key_ids, "dek", F_REQ, .max = RELEASE_KEYS_MAX, .doc = "Of the keys, in the order of the objects")
SCHEMA_EXTERN(lease_keys_in, "Keys that a lease needs",
    FIELD_ID(lease_keys_in, attempt_id, "att", F_PATH, .doc = "The attempt"),
    FIELD_ID(lease_keys_in, tenant_id, "tnt", F_REQ, .doc = "Its tenant"),
    FIELD(lease_keys_in, fence, F_REQ, .min = 1, .max = INT64_MAX, .doc = "Its fence"), PUBLIC_KEY(lease_keys_in),
    FIELD_IDS(lease_keys_in, objects, "obj", F_REQ, .min = 1, .max = RELEASE_KEYS_MAX, .doc = "Inputs of the job"));
SCHEMA_EXTERN(lease_keys_out, "Data keys, sealed to the worker", KEY_MESSAGE(lease_keys_out, "HPKE message"));
SCHEMA_EXTERN(lease_kept, "An image that a machine keeps unpacked",
    FIELD_ID(lease_kept, tenant_id, "tnt", F_REQ, .doc = "Whose it is"),
    FIELD_ID(lease_kept, job_id, "job", F_REQ, .doc = "A job that ran in it on this machine"),
    FIELD_ID(lease_kept, object_id, "obj", F_REQ, .doc = "The archive it came from"));
SCHEMA_EXTERN(lease_kept_in, "Images that a machine keeps",
    FIELD_LIST(lease_kept_in, images, &lease_kept_schema, F_REQ, .max = LEASE_KEPT_MAX, .doc = "All that it keeps"));
SCHEMA_EXTERN(lease_kept_out, "Images that the machine may keep; every other one must go",
    FIELD_LIST(lease_kept_out, images, &lease_kept_schema, F_REQ, .max = LEASE_KEPT_MAX, .doc = "Possibly none"));
SCHEMA_EXTERN(lease_cert_in, "A certificate for the process that serves a lease",
    FIELD_ID(lease_cert_in, attempt_id, "att", F_PATH, .doc = "The attempt"),
    FIELD_ID(lease_cert_in, tenant_id, "tnt", F_REQ, .doc = "Its tenant"),
    FIELD(lease_cert_in, fence, F_REQ, .min = 1, .max = INT64_MAX, .doc = "Its fence"), ENROL_CSR(lease_cert_in));
SCHEMA_EXTERN(lease_cert_out, "The certificate of a lease",
    FIELD(lease_cert_out, certificate_pem, F_REQ, .max = ENROL_PEM_MAX, .doc = "The certificate"),
    FIELD(lease_cert_out, identity, 0, .doc = "Its name: spiffe://ZONE/lease/POOL/MACHINE/ATTEMPT"),
    FIELD(lease_cert_out, not_after, 0, .doc = "When it ends; renew at half of its life"));
SCHEMA_EXTERN(lease_gang_in, "Where a machine of a job on several meets the others",
    FIELD_ID(lease_gang_in, attempt_id, "att", F_PATH, .doc = "The attempt"),
    FIELD_ID(lease_gang_in, tenant_id, "tnt", F_REQ, .doc = "Its tenant"),
    FIELD(lease_gang_in, fence, F_REQ, .min = 1, .max = INT64_MAX, .doc = "Its fence"),
    FIELD(lease_gang_in, endpoint, F_REQ, .min = 3, .max = 255, .doc = "host:port where it listens"));
SCHEMA_EXTERN(lease_gang_member, "A machine of a job on several",
    FIELD(lease_gang_member, rank, F_REQ, .min = 0, .max = GANG_NODES_MAX - 1, .doc = "Which of them"),
    FIELD(lease_gang_member, endpoint, F_REQ, .max = 255, .doc = "host:port where it listens"),
    FIELD(lease_gang_member, identity, F_REQ, .max = 255, .doc = "Name in its certificate for this lease"));
SCHEMA_EXTERN(lease_gang_out, "Where the others are, once all are there",
    FIELD(lease_gang_out, missing, F_REQ, .min = 0, .max = GANG_NODES_MAX, .doc = "So many have not said where they listen"),
    FIELD(lease_gang_out, authority_pem, 0, .max = ENROL_PEM_MAX,
          .doc = "Who signs the certificates of their leases; with members"),
    FIELD_LIST(lease_gang_out, members, &lease_gang_member_schema, F_NOEMPTY, .max = GANG_NODES_MAX,
               .doc = "By rank; none while some are missing"));
SCHEMA_EXTERN(lease_output_in, "An output to write",
    FIELD_ID(lease_output_in, attempt_id, "att", F_PATH, .doc = "The attempt"),
    FIELD_ID(lease_output_in, tenant_id, "tnt", F_REQ, .doc = "Its tenant"),
    FIELD(lease_output_in, fence, F_REQ, .min = 1, .max = INT64_MAX, .doc = "Its fence"),
    FIELD(lease_output_in, name, F_REQ, .min = 1, .max = LEASE_OUTPUT_NAME_MAX, .check = check_slug, .doc = "Name in the job"),
    FIELD_ENUM(lease_output_in, kind, F_REQ, lease_output_kinds, .doc = "Kind of object"), PUBLIC_KEY(lease_output_in));
SCHEMA_EXTERN(lease_output_out, "Where to write, and with which key",
    FIELD_ID(lease_output_out, object_id, "obj", F_REQ, .doc = "The new object"),
    FIELD(lease_output_out, version, F_REQ, .min = 0, .max = UINT32_MAX, .doc = "Its version"),
    FIELD(lease_output_out, part_bytes_max, F_REQ, .min = 1, .max = LEASE_PART_MAX, .doc = "Most sealed bytes of one part"),
    KEY_MESSAGE(lease_output_out, "HPKE message with its key"));

SCHEMA_EXTERN(lease_checkpoint_in, "A checkpoint to write",
    FIELD_ID(lease_checkpoint_in, attempt_id, "att", F_PATH, .doc = "The attempt"),
    FIELD_ID(lease_checkpoint_in, tenant_id, "tnt", F_REQ, .doc = "Its tenant"),
    FIELD(lease_checkpoint_in, fence, F_REQ, .min = 1, .max = INT64_MAX, .doc = "Its fence"), PUBLIC_KEY(lease_checkpoint_in));
SCHEMA_EXTERN(lease_checkpoint_keep, "A checkpoint that has been sent whole",
    FIELD_ID(lease_checkpoint_keep, attempt_id, "att", F_PATH, .doc = "The attempt"),
    FIELD_ID(lease_checkpoint_keep, object_id, "obj", F_PATH, .doc = "The checkpoint"),
    FIELD_ID(lease_checkpoint_keep, tenant_id, "tnt", F_REQ, .doc = "The attempt's tenant"),
    FIELD(lease_checkpoint_keep, fence, F_REQ, .min = 1, .max = INT64_MAX, .doc = "Its fence"),
    FIELD(lease_checkpoint_keep, step, F_REQ, .min = 0, .max = INT64_MAX, .doc = "Steps that the job had finished"));

SCHEMA_EXTERN(lease_session_ref, "Which session in a lease's box",
    FIELD_ID(lease_session_ref, attempt_id, "att", F_PATH, .doc = "The attempt"),
    FIELD_ID(lease_session_ref, session_id, "ins", F_PATH, .doc = "The session"),
    FIELD_ID(lease_session_ref, tenant_id, "tnt", F_QUERY | F_REQ, .doc = "The attempt's tenant"),
    FIELD(lease_session_ref, fence, F_QUERY | F_REQ, .min = 1, .max = INT64_MAX, .doc = "Its fence"));
SCHEMA_EXTERN(lease_object_ref, "Which object of a lease",
    FIELD_ID(lease_object_ref, attempt_id, "att", F_PATH, .doc = "The attempt"),
    FIELD_ID(lease_object_ref, object_id, "obj", F_PATH, .doc = "The object"),
    FIELD_ID(lease_object_ref, tenant_id, "tnt", F_QUERY | F_REQ, .doc = "The attempt's tenant"),
    FIELD(lease_object_ref, fence, F_QUERY | F_REQ, .min = 1, .max = INT64_MAX, .doc = "Its fence"));
SCHEMA_EXTERN(lease_upload_in, "Sealed bytes of an output, the next part or all of them",
    FIELD_ID(lease_upload_in, attempt_id, "att", F_PATH, .doc = "The attempt"),
    FIELD_ID(lease_upload_in, object_id, "obj", F_PATH, .doc = "The output"),
    FIELD_ID(lease_upload_in, tenant_id, "tnt", F_QUERY | F_REQ, .doc = "The attempt's tenant"),
    FIELD(lease_upload_in, fence, F_QUERY | F_REQ, .min = 1, .max = INT64_MAX, .doc = "Its fence"),
    FIELD(lease_upload_in, size, F_QUERY | F_REQ, .min = 0, .max = LEASE_CHECKPOINT_MAX, .doc = "Bytes of the whole content"),
    FIELD(lease_upload_in, offset, F_QUERY, .min = 0, .max = INT64_MAX, .dflt = "0",
          .doc = "Sealed bytes before this part"),
    FIELD(lease_upload_in, sha256, F_QUERY | F_REQ, .min = 64, .max = 64, .doc = "SHA-256 of the content, hex"));

size_t lease_grant_files(const struct lease_grant *g)
{
    size_t n = 0;
    while (n < g->inputs.n && !str_eq_c(((const struct lease_input *)g->inputs.items)[n].kind, LEASE_CHECKPOINT))
        n++;
    return n;
}
