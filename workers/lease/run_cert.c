/* SPDX-License-Identifier: Apache-2.0 */
/* run_cert.c - a lease that listens, on the agent's side: its listener, and the certificate of its lease.
 *
 * The child makes its key and sends a request for it, once; the agent has falaj-api sign it for the lease, and again at half of
 * each certificate's life for the same request. So the child's key never leaves it, no child decides how often something is
 * signed, and the machine's own key stays with the agent. */
#include "workers/lease/executor_int.h"

#include <stdio.h>
#include <string.h>
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/crypto/x509.h"
#include "core/http/server.h"
#include "core/wire/enrol_wire.h"
#include "workers/agent/enrol.h"

enum { RETRY_FIRST_MS = 1000, RETRY_MOST_MS = 60000, DOUBLINGS_MAX = 6 };
static const size_t SCRATCH = (size_t)4 << 20;

enum errc run_listen(struct run *r, struct err *e)
{
    const char *bind = r->env->config->worker_serve_bind;
    int port = 0;
    if (!run_listens(r))
        return ERR_OK;
    TRY(http_listen(bind, 0, &r->listener, &port, e));
    snprintf(r->endpoint, sizeof r->endpoint, strchr(bind, ':') ? "[%s]:%d" : "%s:%d", bind, port);
    return ERR_OK;
}

static enum errc ask(struct run *r, struct arena *scratch, struct str *ret_pem, struct err *e)
{
    const struct executor_io *io = r->env->io;
    return io ? io->certificate(io->ctx, scratch, r->g, r->csr, ret_pem, e)
              : client_certificate(r->client, scratch, r->g, r->csr, ret_pem, e);
}

/* A certificate that cannot be read is passed on to the child, which says so, and is asked for again at once. */
static enum errc hand_over(struct run *r, struct arena *scratch, struct str pem, bool wait, struct err *e)
{
    struct x509_facts f;
    struct err odd = { 0 };
    r->cert_due_us = x509_read(scratch, pem, &f, &odd) == ERR_OK ? renew_at_us(f.not_before_us, f.not_after_us) : 0;
    return frame_send(r->socket, FRAME_CERT, STR_NULL, pem, NULL, 0, wait, e);
}

enum errc run_on_csr(struct run *r, struct str csr_pem, struct err *e)
{
    if (!run_listens(r) || r->csr.len || !csr_pem.len || csr_pem.len > ENROL_CSR_MAX || !str_is_utf8(csr_pem))
        return FAIL(e, DAMAGED, "the child sent a certificate request where none is expected");
    r->csr = str_dup(r->arena, csr_pem);
    for (int n = 0;; n++) {
        CLEANUP(arena_freep) struct arena *scratch = arena_new(SCRATCH);
        struct str pem;
        enum errc rc = ask(r, scratch, &pem, e);
        if (rc == ERR_OK)
            return hand_over(r, scratch, pem, true, e);
        if (!run_try_again(r, rc, n))
            return rc;
    }
}

void run_renew_certificate(struct run *r)
{
    int64_t now_us = clock_mono_us(&clock_system);
    if (!r->is_ready || now_us < r->cert_try_us || clock_wall_us(&clock_system) < r->cert_due_us)
        return;
    CLEANUP(arena_freep) struct arena *scratch = arena_new(SCRATCH);
    struct err e = { 0 };
    struct str pem;
    enum errc rc = ask(r, scratch, &pem, &e);
    if (rc == ERR_OK)
        rc = hand_over(r, scratch, pem, false, &e);
    int doublings = r->cert_failures < DOUBLINGS_MAX ? r->cert_failures : DOUBLINGS_MAX;
    int64_t ms = (int64_t)RETRY_FIRST_MS << doublings;
    r->cert_try_us = clock_mono_us(&clock_system) + (ms < RETRY_MOST_MS ? ms : RETRY_MOST_MS) * 1000;
    if (rc == ERR_OK)
        r->cert_failures = 0;
    else if (r->cert_failures++ == 0)
        log_err(LOG_WARN, "lease.certificate_failed", &e);
}
