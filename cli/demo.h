/* SPDX-License-Identifier: Apache-2.0 */
/* demo.h - the main job in front of the reader's eyes: what `falaj demo` holds between its steps.
 *
 * The steps only use the API, as any program would, with the tokens that each step would have in real life. They may be repeated on the
 * same data folder: zones, tenants and users are taken up again (their tokens are kept in DATA/secrets), data set and
 * model get a next version, the deployment is replaced. A step returns CLI_OK or an exit code after a message.
 * Calling order: demo_setup -> demo_upload -> demo_train -> demo_serve -> demo_isolation -> demo_audit. Memory: c->arena. */
#pragma once
#include "cli/client.h"

enum { DEMO_FEATURES = 64, DEMO_SINGLE_CALLS = 200, DEMO_BATCH = 64 };
#define DEMO_ACCURACY_MIN 0.96

struct demo {
    struct cli *c;
    FILE *say;                      /* where the story goes: stdout, or stderr with --json */
    bool is_live;                   /* say is a terminal: lines may be rewritten */
    const char *data, *zone, *far_zone;
    const char *admin, *owner, *engineer, *stranger;    /* tokens: platform, tenant's admin, its engineer, another tenant's admin */
    const char *tenant, *tenant_id, *stranger_tenant;
    const char *dataset_id, *job_id, *model_id, *deployment_id;
    int64_t dataset_version, model_version, epochs, image_class;
    struct str csv;
    int64_t *holdout;               /* rows of the data set that training did not see */
    size_t holdout_count;
    double trained_accuracy, accuracy, infer_p50_ms, infer_p95_ms, upload_s, train_s;
};

/* A call that must give that status; anything else is told. body NULL: none. */
int demo_call(struct demo *m, const char *token, const char *method, const char *path, const char *body, int status, struct api_reply *ret);
/* The same, but the caller judges the status; an exit code only when there is no answer. */
int demo_try(struct demo *m, const char *token, const char *method, const char *path, const char *body, struct api_reply *ret);
const char *demo_text(struct demo *m, const struct api_reply *r, const char *member);
void demo_title(struct demo *m, int step, const char *text);
void demo_line(struct demo *m, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* A line that the next one replaces; nothing where the output is no terminal. */
void demo_progress(struct demo *m, const char *fmt, ...) PRINTF_LIKE(2, 3);
double demo_now_s(void);
void demo_sleep_ms(int ms);

int demo_setup(struct demo *m);
int demo_upload(struct demo *m);
int demo_train(struct demo *m);
int demo_serve(struct demo *m);
int demo_isolation(struct demo *m);
int demo_audit(struct demo *m);
