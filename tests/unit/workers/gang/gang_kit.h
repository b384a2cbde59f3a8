/* SPDX-License-Identifier: Apache-2.0 */
/* gang_kit.h - ranks as real processes on loopback, each with a certificate of its own. Included after cmocka.h.
 *
 * The parent makes authority, certificates and listeners, forks the ranks and reads what each tells over a pipe; a rank that
 * hangs would hang the test, which CTest ends. */
#pragma once
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/crypto/x509.h"
#include "workers/gang/comm_tcp.h"

#define KIT_ZONE "spiffe://east"
enum { KIT_SILENCE_MS = 60000 };       /* where nothing shall be waited for in vain */

struct kit_said {                       /* by a rank, through its pipe */
    enum errc rc;
    char msg[256];
    uint64_t digest;
};

struct kit_gang {
    struct arena *arena;
    struct x509_pair ca, pair[COMM_RANKS_MAX];
    struct tls_identity own[COMM_RANKS_MAX];
    struct comm_peer peers[COMM_RANKS_MAX];
    int listener[COMM_RANKS_MAX], size, silence_ms, pipe[COMM_RANKS_MAX][2];
    pid_t pid[COMM_RANKS_MAX];
};

static inline void kit_certify(struct kit_gang *g, const char *uri, struct x509_pair *ret)
{
    struct err e;
    const struct x509_req r = { .common_name = STR("rank"), .uri_san = str_c(uri), .is_client = true, .is_server = true,
                                .lifetime_s = 3600 };
    assert_int_equal(x509_issue(g->arena, &g->ca, &r, clock_wall_us(&clock_system), ret, &e), ERR_OK);
}

static inline void kit_gang_init(struct kit_gang *g, int size)
{
    struct err e = { 0 };
    (void)signal(SIGPIPE, SIG_IGN);
    *g = (struct kit_gang){ .arena = arena_new(1 << 22), .size = size, .silence_ms = KIT_SILENCE_MS };
    assert_int_equal(x509_make_ca(g->arena, STR("gang"), STR(KIT_ZONE), clock_wall_us(&clock_system), 86400, &g->ca, &e), ERR_OK);
    for (int r = 0; r < size; r++) {
        const char *uri = str_z(g->arena, str_fmt(g->arena, KIT_ZONE "/lease/l1/rank/%d", r));
        kit_certify(g, uri, &g->pair[r]);
        g->own[r] = (struct tls_identity){ g->pair[r].cert_pem, g->pair[r].key_pem, g->ca.cert_pem };
        g->peers[r] = (struct comm_peer){ STR("127.0.0.1"), 0, str_c(uri) };
        if (comm_tcp_listen(STR("127.0.0.1"), 0, &g->listener[r], &g->peers[r].port, &e) != ERR_OK)
            fail_msg("%s (%s)", e.msg, e.detail);
    }
}

static inline enum errc kit_join(struct kit_gang *g, int rank, const char *run, struct comm **ret, struct err *e)
{
    struct comm_tcp_gang of = { rank, g->size, g->peers, &g->own[rank], "", g->silence_ms };
    memcpy(of.run, run, strlen(run));
    return comm_tcp_join(&of, g->listener[rank], ret, e);
}

/* rank's process: play says how it ended. */
static inline void kit_start(struct kit_gang *g, int rank, void (*play)(struct kit_gang *g, int rank, struct kit_said *said))
{
    assert_int_equal(pipe(g->pipe[rank]), 0);
    fflush(NULL);
    g->pid[rank] = fork();
    assert_true(g->pid[rank] >= 0);
    if (!g->pid[rank]) {
        struct kit_said said = { 0 };
        play(g, rank, &said);
        (void)!write(g->pipe[rank][1], &said, sizeof said);
        _exit(0);
    }
    close(g->pipe[rank][1]);
}

/* What it said; of one that was killed nothing (false). */
static inline bool kit_end(struct kit_gang *g, int rank, struct kit_said *ret)
{
    int status;
    *ret = (struct kit_said){ .rc = ERR_COUNT };
    bool has_said = read(g->pipe[rank][0], ret, sizeof *ret) == (ssize_t)sizeof *ret;
    assert_int_equal(waitpid(g->pid[rank], &status, 0), g->pid[rank]);
    close(g->pipe[rank][0]);
    return has_said;
}

static inline void kit_gang_release(struct kit_gang *g)
{
    for (int r = 0; r < g->size; r++)
        close(g->listener[r]);
    arena_free(g->arena);
}

static inline void kit_say(struct kit_said *said, enum errc rc, const struct err *e)
{
    said->rc = rc;
    snprintf(said->msg, sizeof said->msg, "%s", rc == ERR_OK ? "" : e->msg);
}
