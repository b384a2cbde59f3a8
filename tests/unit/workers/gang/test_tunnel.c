/* SPDX-License-Identifier: Apache-2.0 */
/* test_tunnel.c - three machines: packets come to whom they are for, in their order, and to nobody else, and what is said of an
 * end comes behind them. The interface is a socket that keeps packets apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include "gang_kit.h"
#include "tests/lib/wait.h"
#include "workers/gang/tunnel.h"

enum { SIZE = 3, PACKETS = 400, BYTES = 30000, WINDOW = 4 /* as many as the socket holds */ };

static size_t make_packet(unsigned char *p, int from, int to, uint32_t number)
{
    memset(p, 0x5a, BYTES);
    p[0] = 0x45;
    memcpy(p + 12, (const unsigned char[]){ 10, 91, 0, (unsigned char)(from + 1) }, 4);
    memcpy(p + 16, (const unsigned char[]){ 10, 91, 0, (unsigned char)(to + 1) }, 4);
    memcpy(p + 20, &number, sizeof number);
    return BYTES;
}

static struct tunnel *begin(struct kit_gang *g, int rank, int *ret_end)
{
    struct err e = { 0 };
    struct comm *c = NULL;
    struct tunnel *t = NULL;
    int pair[2], room = 1 << 20;
    if (kit_join(g, rank, "one", &c, &e) != ERR_OK || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0)
        return NULL;
    for (int i = 0; i < 2; i++)
        (void)setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    *ret_end = pair[1];
    return tunnel_new(c, pair[0], &t, &e) == ERR_OK ? t : NULL;
}

/* The next packet must be this one. */
static bool next_is(int fd, int from, int to, uint32_t number)
{
    static unsigned char want[BYTES], got[PACKET_MAX];
    return recv(fd, got, sizeof got, 0) == (ssize_t)make_packet(want, from, to, number) && !memcmp(got, want, BYTES);
}

static const char *send_all(struct tunnel *t, int fd, int rank)
{
    static unsigned char p[BYTES];
    static const int strangers[] = { 5, 200 };
    for (uint32_t i = 0; i < PACKETS; i++) {
        for (size_t k = 0; k < 2; k++) {        /* to nobody, and as another one */
            (void)send(fd, p, make_packet(p, rank, strangers[k], i), 0);
            (void)send(fd, p, make_packet(p, 2, 0, i), 0);
        }
        if (send(fd, p, make_packet(p, rank, 0, i), 0) != BYTES)
            return "a packet was refused";
        if (i % WINDOW == WINDOW - 1 && !next_is(fd, 0, 1, i))
            return "no answer came";
    }
    tunnel_say(t, PACKET_DONE, NULL);
    return NULL;
}

static const char *play_as(struct tunnel *t, int fd, int rank)
{
    if (rank == 1) {
        const char *wrong = send_all(t, fd, rank);
        if (wrong)
            return wrong;
    } else if (rank == 0) {
        static unsigned char p[BYTES];
        for (uint32_t i = 0; i < PACKETS; i++) {
            if (!next_is(fd, 1, 0, i))
                return "another packet came, or one was lost";
            if (i % WINDOW == WINDOW - 1 && send(fd, p, make_packet(p, 0, 1, i), 0) != BYTES)
                return "an answer was refused";
        }
        tunnel_say(t, PACKET_DONE, NULL);
    } else {
        tunnel_say(t, PACKET_DONE, "again");
    }
    while (!tunnel_look(t).all_done)
        if (tunnel_look(t).is_lost)
            return "one was lost";
    return tunnel_look(t).asks_again ? NULL : "nobody asked to be queued again";
}

static void play(struct kit_gang *g, int rank, struct kit_said *said)
{
    int fd = -1;
    struct tunnel *t = begin(g, rank, &fd);
    const char *wrong = t ? play_as(t, fd, rank) : "it did not begin";
    tunnel_free(t);
    said->rc = wrong ? ERR_INTERNAL : ERR_OK;
    snprintf(said->msg, sizeof said->msg, "%s", wrong ? wrong : "");
}

static void packets_come_to_whom_they_are_for(void **st)
{
    (void)st;
    struct kit_gang g;
    struct kit_said said;
    kit_gang_init(&g, SIZE);
    for (int r = 0; r < SIZE; r++)
        kit_start(&g, r, play);
    for (int r = 0; r < SIZE; r++)
        if (!kit_end(&g, r, &said) || said.rc != ERR_OK)
            fail_msg("rank %d: %s", r, said.msg);
    kit_gang_release(&g);
}

/* Rank 1 says that its program failed, rank 2 that it was told to stop; rank 0 hears both. */
static void end_badly(struct kit_gang *g, int rank, struct kit_said *said)
{
    int fd = -1;
    struct tunnel *t = begin(g, rank, &fd);
    if (t && rank)
        tunnel_say(t, rank == 1 ? PACKET_FAILED : PACKET_STOP, rank == 1 ? "no such\tcolumn" : "told to stop");
    while (t && !rank && !(tunnel_look(t).is_lost && tunnel_look(t).is_stopping))
        poll(NULL, 0, 5);
    static unsigned char p[BYTES];
    for (int to = 1; t && !rank && to < SIZE; to++)     /* it has heard both: they may go */
        (void)send(fd, p, make_packet(p, 0, to, 0), 0);
    if (t && rank)
        (void)next_is(fd, 0, rank, 0);
    const struct tunnel_sight s = t ? tunnel_look(t) : (struct tunnel_sight){ 0 };
    tunnel_free(t);
    said->rc = s.all_done ? ERR_INTERNAL : ERR_OK;
    snprintf(said->msg, sizeof said->msg, "%.200s", s.why);
}

static void words_are_heard(void **st)
{
    (void)st;
    struct kit_gang g;
    struct kit_said said;
    kit_gang_init(&g, SIZE);
    for (int r = 0; r < SIZE; r++)
        kit_start(&g, r, end_badly);
    assert_true(kit_end(&g, 0, &said));
    assert_int_equal(said.rc, ERR_OK);
    if (strcmp(said.msg, "rank 1 ended: no such?column") != 0)
        fail_msg("%s", said.msg);
    for (int r = 1; r < SIZE; r++)
        (void)kit_end(&g, r, &said);
    kit_gang_release(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(packets_come_to_whom_they_are_for), cmocka_unit_test(words_are_heard) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
