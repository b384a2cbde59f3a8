/* SPDX-License-Identifier: Apache-2.0 */
/* kube_text.c - bodies for a kube-apiserver. Nothing is left to a default that a cluster may have otherwise, so that what comes
 * back can be held against it member by member (kube_same.h). */
#include "scheduler/engines/kube_text.h"
#include "scheduler/engines/kube_script.h"
#include "scheduler/engines/kube_where.h"

#include <inttypes.h>

static void member(struct buf *b, const char *name, struct str value)
{
    buf_printf(b, ",\"%s\":", name);
    buf_add_json(b, value);
}

static void labels(const struct engine_ask *ask, struct buf *b)
{
    buf_add_c(b, "\"labels\":{\"" KUBE_LABEL "\":\"" KUBE_OWNER "\"");
    member(b, KUBE_RUN, ask->name);
}

static void resources(const struct engine_ask *ask, const char *name, struct buf *b)
{
    const char *sep = "";
    buf_printf(b, "\"%s\":{", name);
    if (ask->cpus) {
        buf_printf(b, "\"cpu\":\"%" PRId64 "\"", ask->cpus);
        sep = ",";
    }
    if (ask->memory_bytes) {
        buf_printf(b, "%s\"memory\":\"%" PRId64 "\"", sep, ask->memory_bytes);
        sep = ",";
    }
    if (ask->gpus)
        buf_printf(b, "%s\"" KUBE_GPU "\":\"%" PRId64 "\"", sep, ask->gpus);
    buf_add_char(b, '}');
}

/* The folder of a path, "/" for a file of the root. */
static struct str folder_of(struct str path)
{
    size_t n = path.len;
    while (n > 1 && path.ptr[n - 1] != '/')
        n--;
    return str_n(path.ptr, n > 1 ? n - 1 : n);
}

static struct str variable(const struct engine_ask *ask, const char *name)
{
    for (size_t i = 0; i < ask->nvariables; i++)
        if (str_eq_c(str_c(ask->variables[i].name), name))
            return ask->variables[i].value;
    return STR("");
}

static void container(const struct engine_ask *ask, struct buf *b)
{
    buf_add_c(b, "{\"name\":\"worker\"");
    member(b, "image", ask->image);
    buf_add_c(b, ",\"command\":[\"/bin/bash\",\"-c\",");
    buf_add_json(b, ask->script);
    buf_add_c(b, "],\"env\":[{\"name\":\"FALAJ_ADDRESS\",\"valueFrom\":{\"fieldRef\":{\"apiVersion\":\"v1\","
                 "\"fieldPath\":\"status.podIP\"}}}");
    for (size_t i = 0; i < ask->nvariables; i++) {
        if (ask->variables[i].is_secret)
            continue;
        buf_add_c(b, ",{\"name\":");
        buf_add_json(b, str_c(ask->variables[i].name));
        if (ask->variables[i].value.len)        /* an empty one is not kept, and is the same as none */
            member(b, "value", ask->variables[i].value);
        buf_add_char(b, '}');
    }
    buf_add_c(b, "],\"resources\":{");
    resources(ask, "requests", b);
    buf_add_char(b, ',');
    resources(ask, "limits", b);
    buf_add_c(b, "},\"securityContext\":{\"runAsNonRoot\":true,\"readOnlyRootFilesystem\":true,"
                 "\"allowPrivilegeEscalation\":false,\"privileged\":false,\"capabilities\":{\"drop\":[\"ALL\"]}},"
                 "\"volumeMounts\":[{\"name\":\"token\",\"mountPath\":\"" KUBE_TOKENS "\",\"readOnly\":true},"
                 "{\"name\":\"settings\",\"readOnly\":true");
    member(b, "mountPath", folder_of(variable(ask, "FALAJ_CONFIG")));
    buf_add_c(b, "},{\"name\":\"work\"");
    member(b, "mountPath", ask->folder);
    buf_add_c(b, "}]}");
}

int64_t kube_work_most(const struct engine_ask *ask)
{
    int64_t most;
    if (!ask->memory_bytes || __builtin_mul_overflow(ask->memory_bytes, KUBE_WORK_TIMES, &most)
        || __builtin_add_overflow(most, KUBE_WORK_LEAST, &most))
        return 0;
    return most;
}

static void pod(const struct engine_ask *ask, struct buf *b)
{
    buf_printf(b, "{\"restartPolicy\":\"Never\",\"activeDeadlineSeconds\":%" PRId64 ",\"terminationGracePeriodSeconds\":%d,"
               "\"automountServiceAccountToken\":false,\"enableServiceLinks\":false,"
               "\"securityContext\":{\"runAsNonRoot\":true,\"runAsUser\":%d,\"runAsGroup\":%d,\"fsGroup\":%d,"
               "\"seccompProfile\":{\"type\":\"RuntimeDefault\"}}",
               ask->minutes * 60, KUBE_GRACE_S, KUBE_UID, KUBE_GID, KUBE_GID);
    if (ask->selector.len) {
        buf_add_c(b, ",\"nodeSelector\":");
        kube_selector_json(ask->selector, b);
    }
    if (ask->tolerations.len) {
        buf_add_c(b, ",\"tolerations\":");
        kube_tolerations_json(ask->tolerations, b);
    }
    buf_add_c(b, ",\"containers\":[");
    container(ask, b);
    buf_add_c(b, "],\"volumes\":[{\"name\":\"token\",\"secret\":{\"defaultMode\":288");        /* 0440 */
    member(b, "secretName", ask->name);
    buf_add_c(b, "}},{\"name\":\"settings\",\"configMap\":{\"name\":\"" KUBE_SETTINGS "\"}},"
                 "{\"name\":\"work\",\"emptyDir\":{");
    const int64_t most = kube_work_most(ask);
    if (most)
        buf_printf(b, "\"sizeLimit\":\"%" PRId64 "\"", most);
    buf_add_c(b, "}}]}");
}

void kube_job_body(const struct engine_ask *ask, struct buf *out)
{
    const bool is_queued = ask->place.len > 0;
    buf_add_c(out, "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":");
    buf_add_json(out, ask->name);
    buf_add_char(out, ',');
    labels(ask, out);
    if (is_queued)
        member(out, KUBE_QUEUE, ask->place);
    buf_add_c(out, "},\"annotations\":{\"" KUBE_DIGEST "\":");
    buf_add_json(out, ask->comment);
    buf_printf(out, "}},\"spec\":{\"parallelism\":%" PRId64 ",\"completions\":%" PRId64 ",\"backoffLimit\":0", ask->machines,
               ask->machines);
    if (is_queued)
        buf_add_c(out, ",\"suspend\":true,\"completionMode\":\"Indexed\"");
    buf_add_c(out, ",\"template\":{\"metadata\":{");
    labels(ask, out);
    buf_add_c(out, "}},\"spec\":");
    pod(ask, out);
    buf_add_c(out, "}}}");
}

void kube_secret_body(const struct engine_ask *ask, struct buf *out)
{
    buf_add_c(out, "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":");
    buf_add_json(out, ask->name);
    buf_add_char(out, ',');
    labels(ask, out);
    buf_add_c(out, "}},\"type\":\"Opaque\",\"stringData\":{\"tokens\":\"");
    for (size_t i = 0; i < ask->nvariables; i++)
        if (ask->variables[i].is_secret)
            buf_printf(out, "%.*s", STR_ARG(ask->variables[i].value));      /* tokens: letters, digits, '_' and blanks */
    buf_add_c(out, "\"}}");
}
