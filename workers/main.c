/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - falaj-worker: the agent of a machine, or, with --run-lease, the child that runs one lease for it.
 *
 *     falaj-worker --config FILE [--worker.slots=8 …]
 *
 * The verbs convert, infer and bench (workers/tool) run one model here, without a platform.
 * A machine without a certificate enrols first, with a join token: --worker.join_token_file=FILE --worker.enrol_url=URL.
 * SIGTERM ends it in good order: leases that do not end within worker.grace_ms go back to the queue. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/base/fault.h"
#include "core/base/log.h"
#include "core/crypto/secmem.h"
#include "core/http/ops.h"
#include "core/table/metrics.h"
#include "workers/agent/agent.h"
#include "workers/lease/accounts.h"
#include "workers/lease/box_enter.h"
#include "workers/lease/cage_delegate.h"
#include "workers/lease/child.h"
#include "workers/agent/enrol.h"
#include "workers/tool/tool.h"

static _Atomic bool stop;

static void on_signal(int signal_number)
{
    (void)signal_number;
    stop = true;
}

static void ops_metrics(void *ctx, struct buf *out)
{
    struct book_counts c;
    book_get_counts(agent_book(ctx), &c);
    metrics_set(M_worker_leases, (double)c.running);
    metrics_print(out, "falaj-worker");
}

static enum errc ops_begin(const struct config *cfg, struct agent *a, struct ops_server **ret, struct err *e)
{
    const struct ops_place at = { cfg->worker_ops_bind, cfg->worker_ops_port, OPS_PORT_WORKER, cfg->run_profile == PROFILE_PROD };
    return ops_open(&at, (struct ops_source){ .metrics = ops_metrics, .ctx = a }, ret, e);
}

static int run(const struct config *cfg)
{
    struct err e = { 0 };
    struct agent *a = NULL;
    struct ops_server *ops = NULL;
    if (!cfg->worker_api_url[0] || !cfg->worker_zone[0] || !cfg->worker_cert[0] || !cfg->worker_key[0] || !cfg->worker_ca[0]) {
        fputs("falaj-worker: worker.api_url, worker.zone, worker.cert, worker.key and worker.ca must be set\n", stderr);
        return 2;
    }
    cage_prepare();
    if (accounts_enter(cfg, &e) != ERR_OK || process_harden(&e) != ERR_OK || enrol_first(cfg, &stop, &e) != ERR_OK) {
        log_err(LOG_ERROR, "worker.failed", &e);
        return 1;
    }
    struct renewer *renewer = renewer_new(cfg);
    enum errc rc = agent_new(cfg, &clock_system, NULL, &a, &e);
    if (rc == ERR_OK)
        rc = ops_begin(cfg, a, &ops, &e);
    if (rc == ERR_OK)
        rc = agent_run(a, &stop, &e);
    ops_server_free(ops);
    if (rc != ERR_OK)
        log_err(LOG_ERROR, "worker.failed", &e);
    renewer_free(renewer);
    if (!agent_free(a))
        _exit(1);
    return rc == ERR_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--run-lease") == 0) {
        int status = child_main();
        _exit(status);                  /* no exit handlers: the sandbox forbids some of what they do */
    }
    if (argc >= 2 && strcmp(argv[1], "--enter-box") == 0)
        box_enter_main(argc == 3);
    if (argc > 1 && tool_is_verb(argv[1]))
        return tool_main(argc, argv);
    if (argc == 2 && strcmp(argv[1], "--print-onnx") == 0)      /* docs/gen/onnx.md */
        return tool_print_onnx();
    struct err e = { 0 };
    struct config *cfg = NULL;
    if (config_load(&argc, argv, &cfg, &e) != ERR_OK) {
        fprintf(stderr, "falaj-worker: %s\n", e.msg);
        return 2;
    }
    if (argc > 1) {
        bool help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "--help-config") == 0;
        fputs("usage: falaj-worker --config FILE [--section.name=value]...\n", help ? stdout : stderr);
        if (strcmp(argv[1], "--help-config") == 0)
            config_help(stdout);
        config_free(cfg);
        return help ? 0 : 2;
    }
    log_setup("falaj-worker", (enum log_level)cfg->log_level, (enum log_format)cfg->log_format, STDERR_FILENO);
    if (cfg->run_profile == PROFILE_DEV)
        fault_setup(getenv("FALAJ_FAULTS"));
    struct sigaction sa = { .sa_handler = on_signal };
    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGINT, &sa, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);            /* certificates are looked at by themselves, settings at the start only */
    int status = run(cfg);
    config_free(cfg);
    return status;
}
