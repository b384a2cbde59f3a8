/* SPDX-License-Identifier: Apache-2.0 */
/* kube_kit.h - a submission as a run has it, and its Job as JSON. */
#pragma once
#include "tests/unit/scheduler/engines/engine_kit.h"
#include "core/base/cleanup.h"
#include "core/json/jsonvalue.h"
#include "scheduler/engines/kube_script.h"
#include "scheduler/engines/kube_text.h"

#define NAME "falaj-" RUN "-1"
#define IMAGE "registry.example/falaj-worker@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static inline struct engine_ask kube_ask(void)
{
    return (struct engine_ask){ .name = STR(NAME), .comment = STR("falaj ab"), .script = str_c(kube_script),
        .folder = STR("/scratch"), .image = STR(IMAGE), .machines = 2, .cpus = 3, .memory_bytes = 1 << 30, .gpus = 1,
        .minutes = 90,
        .variables = { { "FALAJ_TOKENS", STR("flj_join_one flj_join_two"), true },
                       { "FALAJ_CONFIG", STR("/etc/falaj/worker.conf") },
                       { "FALAJ_NAMES", STR("kube-1 kube-2") }, { "FALAJ_EMPTY", STR("") } }, .nvariables = 4 };
}

static inline const struct jval *kube_job(const struct engine_ask *ask)
{
    CLEANUP(buf_releasep) struct buf b = BUF(1 << 17);
    const struct jval *doc = NULL;
    struct err why;
    kube_job_body(ask, &b);
    assert_int_equal(jval_parse(arena, str_dup(arena, buf_str(&b)), 0, &doc, &why), ERR_OK);
    return doc;
}

/* at(doc, "spec", "template", NULL) */
static inline const struct jval *at(const struct jval *v, ...)
{
    va_list names;
    va_start(names, v);
    for (const char *name; (name = va_arg(names, const char *)) != NULL;)
        v = *name >= '0' && *name <= '9' ? jval_at(v, (size_t)(*name - '0')) : jval_get(v, name);
    va_end(names);
    return v;
}

#define TEXT(v, ...) jval_str(at(v, __VA_ARGS__, NULL))
