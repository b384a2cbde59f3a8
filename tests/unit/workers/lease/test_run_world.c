/* SPDX-License-Identifier: Apache-2.0 */
/* test_run_world.c - a program on two machines in real boxes: what it finds, whom it reaches and whom not, and how the end of one
 * is that of the other. */
#include "gang_kit.h"
#include "tun_kit.h"
#include "tests/lib/wait.h"

static struct member m[MACHINES];
static struct meeting at;
static char device[64];
static struct kit_ckpt carried[2];      /* checkpoints of attempts before, which all ranks are given */
static int n_carried;
static bool is_damaged;                 /* the newest of them, at rank 1 */

static void carry(int rank)
{
    struct kit_store *s = &m[rank].f.store;
    for (s->n_ckpts = 0; s->n_ckpts < n_carried; s->n_ckpts++) {
        struct kit_ckpt *to = &s->ckpts[s->n_ckpts], *from = &carried[s->n_ckpts];
        *to = *from;
        to->sealed = BUF((size_t)64 << 20);
        buf_add(&to->sealed, from->sealed.ptr, from->sealed.len);
    }
    if (rank && is_damaged)
        s->ckpts[n_carried - 1].sealed.ptr[0] ^= 1;
}

/* The newest that rank 0 kept comes along from here on. */
static void take_newest(void)
{
    struct kit_store *s = &m[0].f.store;
    assert_int_equal(s->n_ckpts, n_carried + 1);
    carried[n_carried] = s->ckpts[n_carried];
    assert_true(carried[n_carried++].is_kept);
    s->n_ckpts--;
}

/* A lease of a program for that rank; python: the text of a script. */
static struct held *add(int rank, const char *python, const char *more)
{
    static char spec[MACHINES][16384];
    struct err e = { 0 };
    struct buf b = BUF(sizeof spec[0] - 1);
    member_begin(&m[rank], &at, rank);
    carry(rank);
    assert_int_equal(config_set(m[rank].f.config, "worker.programs", "host", &e), ERR_OK);
    assert_int_equal(config_set(m[rank].f.config, "worker.tun_device", device, &e), ERR_OK);
    assert_int_equal(config_set(m[rank].f.config, "worker.checkpoint_gap_ms", "0", &e), ERR_OK);
    m[rank].f.env.node.lease_ms = 200;
    buf_add_c(&b, "{\"command\":[\"python3\",\"/falaj/code/script\"],\"script\":");
    buf_add_json(&b, str_c(python));
    buf_printf(&b, "%s}", more);
    snprintf(spec[rank], sizeof spec[rank], "%.*s", (int)b.len, b.ptr);
    buf_release(&b);
    struct lease_grant g = kit_grant(1 + rank, "run", spec[rank]);
    g.rank = rank;
    g.nodes = MACHINES;
    kit_add_input(&g, &m[rank].f.store, "dataset");
    kit_add_checkpoints(&g, &m[rank].f.store);
    return book_add(m[rank].f.book, &g, true);
}

static void begin(struct member_run r[MACHINES], const char *python, const char *more)
{
    meeting_begin(&at);
    for (int i = 0; i < MACHINES; i++) {
        r[i] = (struct member_run){ &m[i], add(i, python, more) };
        assert_int_equal(pthread_create(&m[i].thread, NULL, member_main, &r[i]), 0);
    }
}

static void play(const char *python, const char *more)
{
    struct member_run r[MACHINES];
    begin(r, python, more);
    members_join(m);
}

#define HEAD "import os, socket, sys, time, json\nrank = int(os.environ.get('RANK', '9'))\n"

/* Each sends the other its number by a name; rank 1 sends a long last word and is gone before it is read. */
static void two_programs_meet_and_the_last_word_is_read(void **state)
{
    (void)state;
    play(HEAD "assert (os.environ['WORLD_SIZE'], os.environ['MASTER_ADDR']) == ('2', '10.91.0.1')\n"
         "assert socket.gethostname() == f'rank-{rank}'\n"
         "if rank:\n"
         "    for i in range(200):\n"
         "        try: s = socket.create_connection(('rank-0', 29500)); break\n"
         "        except OSError: time.sleep(0.05)\n"
         "    s.sendall(b'x' * 3000000); os._exit(0)\n"
         "l = socket.socket(); l.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096); l.bind(('rank-0', 29500)); l.listen()\n"
         "s, peer = l.accept(); n = 0\n"
         "while b := s.recv(65536):\n"
         "    n += len(b); time.sleep(0.001)\n"
         "print('::metric', json.dumps({'bytes': n})); print('from', peer[0], n)\n"
         "open('/falaj/out/n', 'w').write(str(n))\n", ",\"outputs\":[\"n\"]");
    member_says(&m[0], "\"event\":\"succeed\"", "from 10.91.0.2 3000000");
    member_says(&m[1], "\"event\":\"succeed\"", "rank 1 of 2 machines: all are there");
    assert_int_equal(m[0].f.store.n_ckpts, 1);
    assert_string_equal(m[0].f.store.ckpts[0].name, "n");
    assert_int_equal(m[1].f.store.n_ckpts, 0);          /* what all made, rank 0 gives */
    members_end(m, &at);
}

/* No other address, no raw socket, nobody else's loopback, and no power over its own interface. */
static void nobody_else_is_reached(void **state)
{
    (void)state;
    play(HEAD "import fcntl, struct\n"
         "def tries(what, act):\n"
         "    try: act()\n"
         "    except OSError as e: print('no', what)\n"
         "    else: print('GOT OUT', what)\n"
         "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(0.2)\n"
         "tries('metadata', lambda: s.sendto(b'x', ('169.254.169.254', 80)))\n"
         "tries('world', lambda: s.sendto(b'x', ('1.1.1.1', 53)))\n"
         "tries('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 6))\n"
         "tries('packet', lambda: socket.socket(17, socket.SOCK_RAW, 3))\n"
         "other = struct.pack('16sH2s4s8x', b'falaj0', 2, b'', socket.inet_aton('10.91.0.9'))\n"
         "tries('address', lambda: fcntl.ioctl(s, 0x8916, other))\n"
         "tries('down', lambda: fcntl.ioctl(s, 0x8914, struct.pack('16sH22x', b'falaj0', 0)))\n"
         "tries('spoof', lambda: s.bind(('10.91.0.7', 0)))\n"
         "tries('device', lambda: open('/dev/net/tun', 'r+b'))\n"
         "s.sendto(b'x', ('10.91.0.9', 9))\n", "");
    for (int i = 0; i < MACHINES; i++) {
        CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
        kit_report(m[i].f.book, &report);
        static const char *const all[] = { "metadata", "world", "raw", "packet", "address", "down", "spoof", "device" };
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            char want[64];
            snprintf(want, sizeof want, "\"text\":\"no %s\"", all[k]);
            if (!strstr(report.ptr, want))
                fail_msg("rank %d: no %s in %s", i, want, report.ptr);
        }
        assert_null(strstr(report.ptr, "GOT OUT"));
    }
    members_end(m, &at);
}

/* Rank 1 fails: that is what the platform hears, and rank 0 is stopped and says nothing of its own. */
static void one_that_fails_ends_the_other(void **state)
{
    (void)state;
    play(HEAD "if rank: sys.exit('no such column')\ntime.sleep(600)\n", "");
    member_says(&m[1], "\"event\":\"fail\",\"exit_code\":1", "status 1: no such column");
    member_says(&m[0], "\"event\":\"return\"", "rank 1 ended: no such column: SIGTERM now");
    members_end(m, &at);
}

/* All ask to be queued again: rank 0 says so, once its last checkpoint is kept. */
static void all_ask_to_be_queued_again(void **state)
{
    (void)state;
    play(HEAD "open('/falaj/checkpoint/n', 'w').write(str(rank)); sys.exit(75)\n", "");
    member_says(&m[0], "\"event\":\"return\",\"exit_code\":75", "asked to be queued again");
    member_says(&m[1], "\"event\":\"return\"", "asked to be queued again");
    assert_int_equal(m[0].f.store.n_ckpts, 1);
    assert_int_equal(m[1].f.store.n_ckpts, 0);
    members_end(m, &at);
}

/* Rank 1 cannot open the newest: on two states of one run no program begins, and the job is tried again. */
static void all_go_on_from_one_checkpoint(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        play(HEAD "open('/falaj/checkpoint/n', 'a').write('1'); sys.exit(75)\n", "");
        take_newest();
        members_end(m, &at);
    }
    is_damaged = true;
    play(HEAD "print('began on', open('/falaj/checkpoint/n').read())\n", "");
    is_damaged = false;
    while (n_carried)
        buf_release(&carried[--n_carried].sealed);
    member_says(&m[0], "\"event\":\"return\"", "the folder checkpoint is that of step 2");
    member_says(&m[1], "\"event\":\"return\"", "the folder checkpoint is that of step 1");
    for (int i = 0; i < MACHINES; i++) {
        CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
        book_unsettle(m[i].f.book);
        kit_report(m[i].f.book, &report);
        if (strstr(report.ptr, "began on"))
            fail_msg("rank %d: %s", i, report.ptr);
    }
    members_end(m, &at);
}

static int kept(const struct fixture *f)
{
    return f->store.n_ckpts && f->store.ckpts[0].is_kept;
}

/* One machine is told to stop: both programs are, and stop together. */
static void a_stop_of_one_is_a_stop_of_both(void **state)
{
    (void)state;
    struct member_run r[MACHINES];
    begin(r, HEAD "import signal\n"
          "signal.signal(15, lambda *a: (print('told', flush=True), sys.exit(75)))\n"
          "open('/falaj/checkpoint/n', 'w').write('1')\ntime.sleep(600)\n", "");
    WAIT_WHILE(!kept(&m[0].f));
    held_cancel(r[1].h);
    members_join(m);
    member_says(&m[1], "\"event\":\"cancel\"", "\"text\":\"told\"");
    member_says(&m[0], "\"event\":\"return\"", "rank 1 was told to stop: SIGTERM now");
    book_unsettle(m[0].f.book);
    member_says(&m[0], "\"event\":\"return\"", "\"text\":\"told\"");
    members_end(m, &at);
}

/* A machine that is lost without a word. */
static void a_lost_machine_ends_the_other(void **state)
{
    (void)state;
    struct member_run r[MACHINES];
    begin(r, HEAD "open('/falaj/checkpoint/n', 'w').write('1')\ntime.sleep(600)\n", "");
    WAIT_WHILE(!kept(&m[0].f));
    book_fence_all(m[1].f.book);            /* its child is killed */
    members_join(m);
    member_says(&m[0], "\"event\":\"return\"", "rank 1 was lost");
    members_end(m, &at);
}

static void a_machine_without_a_device_says_so(void **state)
{
    (void)state;
    meeting_begin(&at);
    char was[64];
    memcpy(was, device, sizeof was);
    snprintf(device, sizeof device, "/nowhere/tun");
    struct member_run r = { &m[0], add(0, "0", "") };
    (void)member_main(&r);
    member_says(&m[0], "\"event\":\"fail\"", "this machine runs no parts of programs on several machines");
    memcpy(device, was, sizeof was);
    teardown(&m[0].f);
    arena_free(at.a);
}

static int make_device(void **state)
{
    (void)state;
    tun_make(device);
    return 0;
}

static int remove_device(void **state)
{
    (void)state;
    tun_remove(device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_programs_meet_and_the_last_word_is_read), cmocka_unit_test(nobody_else_is_reached),
        cmocka_unit_test(one_that_fails_ends_the_other), cmocka_unit_test(all_ask_to_be_queued_again),
        cmocka_unit_test(all_go_on_from_one_checkpoint),
        cmocka_unit_test(a_stop_of_one_is_a_stop_of_both), cmocka_unit_test(a_lost_machine_ends_the_other),
        cmocka_unit_test(a_machine_without_a_device_says_so),
    };
    return cmocka_run_group_tests(tests, make_device, remove_device);
}
