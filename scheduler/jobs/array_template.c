/* SPDX-License-Identifier: Apache-2.0 */
/* array_template.c - one schema writes and reads it. A text of an older program lacks what is new, which then has its default; a
 * member that this program does not know is passed over. */
#include "scheduler/jobs/array_template.h"
#include "core/base/cleanup.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "scheduler/jobs/dependency.h"

enum { TEXT_MAX = 256 << 10, INPUTS_MAX = 64 };

struct template_input { struct str name; struct uuid object_id; };
SCHEMA_OF(template_input, "Something that it reads", FIELD(template_input, name, F_REQ, .doc = "Its name"),
    FIELD(template_input, object_id, F_REQ, .doc = "The object"));
struct array_template {
    int kind;
    struct json spec, retry;
    struct str name, zone, pool, data_class, queue, gpu_models, engine, cls;
    int64_t slots, gpus, priority, max_attempts, max_runtime_s, cpu_milli, memory_bytes, gpu_milli, nodes, nodes_max;
    int64_t begin_us, deadline_us;      /* as they were asked for, to the microsecond */
    struct slice inputs, dependencies;
};
SCHEMA_OF(array_template, "What a task of an array becomes",
    FIELD_ENUM(array_template, kind, F_REQ, job_kind_names, .doc = "What it does"),
    FIELD(array_template, spec, F_REQ, .doc = "What to do"), FIELD(array_template, retry, 0,
                                                                   .doc = "Failures that are tried again"),
    FIELD(array_template, name, F_REQ, .doc = "Name, without the index"), FIELD(array_template, zone, 0, .doc = "Zone"),
    FIELD(array_template, pool, 0, .doc = "Pool"), FIELD(array_template, data_class, 0, .doc = "Class of what it reads"),
    FIELD(array_template, queue, 0, .doc = "Queue"), FIELD(array_template, gpu_models, 0, .dflt = "", .doc = "Models of GPU"),
    FIELD(array_template, engine, 0, .dflt = "", .doc = "What computes its model"),
    FIELD_AS(array_template, cls, "class", 0, .doc = "Priority class"), FIELD(array_template, slots, 0, .dflt = "1",
                                                                              .doc = "Slots"),
    FIELD(array_template, gpus, 0, .doc = "GPUs"), FIELD(array_template, priority, 0, .doc = "Priority"),
    FIELD(array_template, max_attempts, 0, .dflt = "3", .doc = "Attempts"),
    FIELD(array_template, max_runtime_s, 0, .dflt = "86400", .doc = "Seconds of an attempt"),
    FIELD(array_template, cpu_milli, 0, .doc = "Processor"), FIELD(array_template, memory_bytes, 0, .doc = "Memory"),
    FIELD(array_template, nodes, 0, .dflt = "1", .doc = "Machines at once"),
    FIELD(array_template, nodes_max, 0, .dflt = "1", .doc = "At most so many"),
    FIELD(array_template, gpu_milli, 0, .doc = "Share of a GPU"), FIELD(array_template, begin_us, 0, .doc = "Not before"),
    FIELD(array_template, deadline_us, 0, .doc = "Started until"),
    FIELD_LIST(array_template, inputs, &template_input_schema, 0, .max = INPUTS_MAX, .doc = "What it reads"),
    FIELD_LIST(array_template, dependencies, &dependency_schema, 0, .max = DEPENDENCIES_MAX, .doc = "What it waits for"));

struct str array_template_text(const struct job_submission *s, struct arena *a)
{
    CLEANUP(buf_releasep) struct buf b = BUF(TEXT_MAX);
    const struct job *j = &s->job;
    const struct job_input *in = s->inputs.items;
    struct template_input *inputs = ARENA_ARRAY(a, struct template_input, s->inputs.n + 1);
    for (size_t i = 0; i < s->inputs.n; i++)
        inputs[i] = (struct template_input){ in[i].name, in[i].object_id };
    const struct array_template t = {
        .kind = j->kind, .spec = j->spec, .retry = j->retry, .name = j->name, .zone = j->zone, .pool = j->pool,
        .data_class = j->data_class, .queue = j->queue, .gpu_models = j->gpu_models, .engine = j->engine,
        .cls = j->cls, .slots = j->slots,
            .gpus = j->gpus,
        .priority = j->priority, .max_attempts = j->max_attempts, .max_runtime_s = j->max_runtime_s, .cpu_milli = j->cpu_milli,
        .memory_bytes = j->memory_bytes, .gpu_milli = j->gpu_milli,
        .nodes = j->nodes, .nodes_max = j->nodes_max, .begin_us = j->begin_at.us, .deadline_us = j->deadline_at.us,
        .inputs = { inputs, s->inputs.n }, .dependencies = s->dependencies };
    json_encode(&array_template_schema, &t, &b);
    return str_dup(a, buf_str(&b));
}

enum errc array_template_read(struct str text, struct arena *a, struct job_submission *ret, struct err *e)
{
    struct array_template t = { 0 };
    TRY(json_decode_reply(&array_template_schema, text, a, &t, e));
    const struct template_input *in = t.inputs.items;
    struct job_input *inputs = ARENA_ARRAY(a, struct job_input, t.inputs.n + 1);
    for (size_t i = 0; i < t.inputs.n; i++)
        inputs[i] = (struct job_input){ in[i].name, in[i].object_id };
    *ret = (struct job_submission){
        .job = { .kind = t.kind, .state = JOB_PENDING, .version = 1, .spec = t.spec, .retry = t.retry, .name = t.name,
            .zone = t.zone,
                 .pool = t.pool, .data_class = t.data_class, .queue = t.queue, .gpu_models = t.gpu_models, .engine = t.engine,
                 .cls = t.cls,
                 .slots = t.slots, .gpus = t.gpus, .priority = t.priority, .max_attempts = t.max_attempts,
                 .max_runtime_s = t.max_runtime_s, .cpu_milli = t.cpu_milli, .memory_bytes = t.memory_bytes,
                 .gpu_milli = t.gpu_milli, .nodes = t.nodes, .nodes_max = t.nodes_max,
                 .begin_at = { t.begin_us }, .deadline_at = { t.deadline_us } },
        .kind_name = str_c(job_kind_names[t.kind]), .inputs = { inputs, t.inputs.n }, .dependencies = t.dependencies };
    return ERR_OK;
}
