/* SPDX-License-Identifier: Apache-2.0 */
/* test_comm_join.c - who becomes part of a gang: its own ranks, however late and whoever else calls; a wrong name, another
 * authority and another run do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include "gang_kit.h"

static const char *run_of[COMM_RANKS_MAX];

static void join_and_meet(struct kit_gang *g, int rank, struct kit_said *said)
{
    struct err e = { 0 };
    struct comm *c = NULL;
    enum errc rc = kit_join(g, rank, run_of[rank] ? run_of[rank] : "one", &c, &e);
    if (rc == ERR_OK)
        rc = c->ops->barrier(c, "all here", &e);
    kit_say(said, rc, &e);
    comm_tcp_free(c);
}

static void test_all_join_in_any_order(void **st)
{
    (void)st;
    for (int size = 1; size <= COMM_RANKS_MAX; size *= 2) {
        struct kit_gang g;
        struct kit_said said;
        kit_gang_init(&g, size);
        for (int r = size; r-- > 0;)            /* the one that all call comes last */
            kit_start(&g, r, join_and_meet);
        for (int r = 0; r < size; r++)
            if (!kit_end(&g, r, &said) || said.rc != ERR_OK)
                fail_msg("rank %d of %d: %s", r, size, said.msg);
        kit_gang_release(&g);
    }
}

/* A caller that speaks no TLS, and one with a certificate of the same authority and a name that nobody wrote down. */
static void test_strangers_are_sent_away_and_the_gang_joins(void **st)
{
    struct kit_gang g;
    struct kit_said said;
    struct x509_pair pair;
    struct tls *t;
    struct err e = { 0 };
    size_t which;
    (void)st;
    kit_gang_init(&g, 2);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)g.peers[0].port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    kit_start(&g, 0, join_and_meet);
    int noise = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(noise, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(write(noise, "GET / HTTP/1.1\r\n\r\n", 18), 18);
    int named = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(named, (struct sockaddr *)&at, sizeof at), 0);
    kit_certify(&g, KIT_ZONE "/lease/l2/rank/1", &pair);
    const struct tls_identity own = { pair.cert_pem, pair.key_pem, g.ca.cert_pem };
    char byte;
    enum errc rc = tls_open(named, false, &own, &g.peers[0].name, 1, KIT_SILENCE_MS, &t, &which, &e);
    if (rc == ERR_OK) {                         /* TLS 1.3: who calls is judged after its own last word */
        rc = tls_read(t, &byte, 1, &e);
        tls_close(t);
    }
    assert_int_equal(rc, ERR_UPSTREAM);
    kit_start(&g, 1, join_and_meet);
    for (int r = 0; r < 2; r++)
        if (!kit_end(&g, r, &said) || said.rc != ERR_OK)
            fail_msg("rank %d: %s", r, said.msg);
    close(noise);
    kit_gang_release(&g);
}

/* A caller that never falls silent and never gets anywhere: the head of a long record, then a byte of it now and then. */
static pid_t start_dripping(const struct kit_gang *g)
{
    static const unsigned char head[] = { 0x16, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc };
    const struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)g->peers[0].port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(write(fd, head, sizeof head), sizeof head);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    while (!pid) {
        (void)poll(NULL, 0, 100);
        if (write(fd, "", 1) != 1)
            _exit(0);
    }
    close(fd);
    return pid;
}

/* More of them than are heard at once, some of them before the ranks. */
static void test_who_drips_holds_up_nobody(void **st)
{
    struct kit_gang g;
    struct kit_said said;
    enum { DRIPPING = 40 };
    pid_t pid[DRIPPING];
    (void)st;
    kit_gang_init(&g, 2);
    g.silence_ms = 9000;                        /* less than a stranger has */
    for (int i = 0; i < DRIPPING; i++)
        pid[i] = start_dripping(&g);
    kit_start(&g, 0, join_and_meet);
    kit_start(&g, 1, join_and_meet);
    for (int r = 0; r < 2; r++)
        if (!kit_end(&g, r, &said) || said.rc != ERR_OK)
            fail_msg("rank %d: %s", r, said.msg);
    for (int i = 0; i < DRIPPING; i++) {
        kill(pid[i], SIGKILL);
        (void)waitpid(pid[i], NULL, 0);
    }
    kit_gang_release(&g);
}

static void ends(struct kit_gang *g, int rank, enum errc rc, const char *why)
{
    struct kit_said said;
    bool has_said = kit_end(g, rank, &said);
    if (!has_said || said.rc != rc || (why && !strstr(said.msg, why)))
        fail_msg("rank %d: %d %s", rank, said.rc, said.msg);
}

/* Rank 1 has the name of rank 3: nobody joins, and the wait has its end. */
static void test_a_wrong_name_is_refused(void **st)
{
    struct kit_gang g;
    (void)st;
    kit_gang_init(&g, 2);
    g.silence_ms = 5000;
    kit_certify(&g, KIT_ZONE "/lease/l1/rank/3", &g.pair[1]);
    g.own[1] = (struct tls_identity){ g.pair[1].cert_pem, g.pair[1].key_pem, g.ca.cert_pem };
    kit_start(&g, 0, join_and_meet);
    kit_start(&g, 1, join_and_meet);
    ends(&g, 0, ERR_DEADLINE, "1 rank(s) did not call within 5000 ms; who did was sent away: the peer is "
                              "spiffe://east/lease/l1/rank/3");
    ends(&g, 1, ERR_UPSTREAM, NULL);
    kit_gang_release(&g);
}

static void test_a_callee_of_another_name_is_refused(void **st)
{
    struct kit_gang g;
    (void)st;
    kit_gang_init(&g, 2);
    g.silence_ms = 5000;
    g.own[0] = g.own[1];
    kit_start(&g, 0, join_and_meet);
    kit_start(&g, 1, join_and_meet);
    ends(&g, 1, ERR_FORBIDDEN, "the peer is spiffe://east/lease/l1/rank/1, which is none of the 1");
    ends(&g, 0, ERR_UPSTREAM, NULL);            /* the caller turned away */
    kit_gang_release(&g);
}

/* One of them could not open the newest: another attempt may. */
static void test_ranks_go_on_from_one_checkpoint(void **st)
{
    struct kit_gang g;
    (void)st;
    kit_gang_init(&g, 2);
    run_of[0] = "one and the same, all 24\x01";
    run_of[1] = "one and the same, all 24\x02";
    kit_start(&g, 0, join_and_meet);
    kit_start(&g, 1, join_and_meet);
    run_of[0] = run_of[1] = NULL;
    ends(&g, 0, ERR_UPSTREAM, "rank 1 goes on from another checkpoint");
    ends(&g, 1, ERR_UPSTREAM, "rank 0 goes on from another checkpoint");
    kit_gang_release(&g);
}

static void test_ranks_of_two_runs_do_not_mix(void **st)
{
    struct kit_gang g;
    (void)st;
    kit_gang_init(&g, 2);
    run_of[1] = "another";
    kit_start(&g, 0, join_and_meet);
    kit_start(&g, 1, join_and_meet);
    run_of[1] = NULL;
    ends(&g, 0, ERR_CONFLICT, "rank 1 runs another specification");
    ends(&g, 1, ERR_CONFLICT, "rank 0 runs another specification");
    kit_gang_release(&g);
}

static void test_a_rank_that_never_comes_is_waited_for_no_longer_than_said(void **st)
{
    struct kit_gang g;
    (void)st;
    kit_gang_init(&g, 4);
    g.silence_ms = 4000;
    close(g.listener[1]);                       /* nobody is there at all */
    for (int r = 0; r < 4; r += 2)
        kit_start(&g, r, join_and_meet);
    ends(&g, 0, ERR_DEADLINE, "rank(s) did not call within 4000 ms");
    ends(&g, 2, ERR_DEADLINE, "rank 1 was not there within 4000 ms");
    g.listener[1] = dup(g.listener[0]);
    kit_gang_release(&g);
}

static void test_an_address_is_checked(void **st)
{
    struct err e;
    int fd, port;
    (void)st;
    assert_int_equal(comm_tcp_listen(STR("localhost"), 0, &fd, &port, &e), ERR_INVALID);
    assert_string_equal(e.msg, "localhost is no IPv4 address");
    assert_int_equal(comm_tcp_listen(STR("127.0.0.1"), 70000, &fd, &port, &e), ERR_INVALID);
    assert_int_equal(comm_tcp_listen(STR("192.0.2.1"), 1, &fd, &port, &e), ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_join_in_any_order),
        cmocka_unit_test(test_strangers_are_sent_away_and_the_gang_joins),
        cmocka_unit_test(test_who_drips_holds_up_nobody),
        cmocka_unit_test(test_a_wrong_name_is_refused),
        cmocka_unit_test(test_a_callee_of_another_name_is_refused),
        cmocka_unit_test(test_ranks_of_two_runs_do_not_mix),
        cmocka_unit_test(test_ranks_go_on_from_one_checkpoint),
        cmocka_unit_test(test_a_rank_that_never_comes_is_waited_for_no_longer_than_said),
        cmocka_unit_test(test_an_address_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
