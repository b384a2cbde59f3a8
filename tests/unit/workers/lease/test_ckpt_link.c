/* SPDX-License-Identifier: Apache-2.0 */
/* test_ckpt_link.c - a store over a socket whose other end is this test: sealed, sent, read again; what goes wrong is only
 * logged. */
#include "lease_kit.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include "workers/lease/ckpt_link.h"

static struct child child;
static int agent, sealed_fd, log_end;

static void begin(struct ckpt_link **l, int64_t gap_ms)
{
    struct err e = { 0 };
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    child = (struct child){ .keeper = pair[1] };
    agent = pair[0];
    assert_int_equal(ckpt_link_new(&child, gap_ms, l, &e), ERR_OK);
    assert_int_equal(child.keeper, -1);
}

static struct frame hear(enum frame_type want)
{
    static char room[FRAME_MAX];
    struct frame f = { 0 };
    assert_int_equal(frame_receive(agent, room, &f, NULL), ERR_OK);
    assert_int_equal(f.type, want);
    return f;
}

static void say(enum frame_type type, struct str body, const int *fd)
{
    assert_int_equal(frame_send(agent, type, STR_NULL, body, fd, fd ? 1 : 0, true, NULL), ERR_OK);
}

static struct frame_output place_of(void)
{
    struct frame_output o = { kit_id(200), kit_id(70), kit_id(61), 1, { { 0 } } };
    for (int i = 0; i < 32; i++)
        o.key.b[i] = (uint8_t)(i + 3);
    return o;
}

/* Answers one checkpoint as the keeper does. */
static void *keep_one(void *arg)
{
    (void)arg;
    struct frame_ckpt done;
    const struct frame_output place = place_of();
    hear(FRAME_CKPT_PLACE);
    say(FRAME_OUTPUT, str_n((const char *)&place, sizeof place), &sealed_fd);
    struct frame f = hear(FRAME_CKPT_DONE);
    assert_int_equal(f.body.len, sizeof done);
    memcpy(&done, f.body.ptr, sizeof done);
    assert_true(done.step == 12 && done.about.plain_size == 5);
    say(FRAME_CKPT_OK, STR(""), NULL);
    return NULL;
}

static void save(struct ckpt_link *l, const char *text)
{
    struct err e = { 0 };
    struct buf b = BUF(64);
    const struct ckpt_store *s = ckpt_link_store(l);
    buf_add_c(&b, text);
    assert_int_equal(s->save(s->ctx, 12, &b, true, &e), ERR_OK);
    assert_int_equal(b.len, 0);
}

static void test_what_is_kept_is_sealed_and_read_again(void **state)
{
    (void)state;
    struct ckpt_link *l;
    struct err e = { 0 };
    struct str got;
    bool found;
    pthread_t t;
    char room[256];
    FILE *file = tmpfile();
    sealed_fd = fileno(file);
    begin(&l, 3600000);
    const struct ckpt_store *s = ckpt_link_store(l);
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
    assert_true(s->is_ready(s->ctx));
    assert_int_equal(s->load(s->ctx, 0, a, &got, &found, &e), ERR_OK);
    assert_false(found);
    pthread_create(&t, NULL, keep_one, NULL);
    save(l, "plain");
    pthread_join(t, NULL);
    assert_false(s->is_ready(s->ctx));          /* the gap */
    ssize_t n = pread(sealed_fd, room, sizeof room, 0);
    assert_true(n > 5 && !memmem(room, (size_t)n, "plain", 5));
    assert_int_equal(s->load(s->ctx, 0, a, &got, &found, &e), ERR_OK);
    assert_true(found && str_eq_c(got, "plain"));
    assert_int_equal(s->load(s->ctx, 1, a, &got, &found, &e), ERR_OK);
    assert_false(found);
    ckpt_link_free(l);
    close(agent);
    fclose(file);
}

static void *refuse(void *arg)
{
    hear(FRAME_CKPT_PLACE);
    if (arg)
        say(FRAME_CKPT_NO, STR("no room"), NULL);
    else
        close(agent);
    return NULL;
}

static void test_what_is_refused_or_lost_does_not_end_the_run(void **state)
{
    (void)state;
    for (int is_said = 0; is_said < 2; is_said++) {
        struct ckpt_link *l;
        struct err e = { 0 };
        struct str got;
        bool found;
        pthread_t t;
        char room[400];
        begin(&l, 0);
        const struct ckpt_store *s = ckpt_link_store(l);
        CLEANUP(arena_freep) struct arena *a = arena_new(1 << 20);
        pthread_create(&t, NULL, refuse, is_said ? l : NULL);
        save(l, "plain");
        pthread_join(t, NULL);
        for (bool is_told = false; !is_told;) {
            ssize_t n = recv(log_end, room, sizeof room, 0);
            assert_true(n > 0);
            is_told = memmem(room, (size_t)n, "could not be kept", strlen("could not be kept"));
        }
        assert_true(s->is_ready(s->ctx));
        assert_int_equal(s->load(s->ctx, 0, a, &got, &found, &e), ERR_OK);
        assert_false(found);
        ckpt_link_free(l);
        if (is_said)
            close(agent);
    }
}

/* Nobody answers: the end does not wait for it. */
static void test_the_end_gives_up_what_is_under_way(void **state)
{
    (void)state;
    struct ckpt_link *l;
    struct err e = { 0 };
    struct buf b = BUF(64);
    begin(&l, 0);
    const struct ckpt_store *s = ckpt_link_store(l);
    buf_add_c(&b, "plain");
    assert_int_equal(s->save(s->ctx, 1, &b, false, &e), ERR_OK);
    assert_false(s->is_ready(s->ctx));
    hear(FRAME_CKPT_PLACE);
    ckpt_link_free(l);
    close(agent);
}

int main(void)
{
    int pair[2];                                /* the child's log goes to descriptor 3 */
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0)
        return 1;
    log_end = fcntl(pair[0], F_DUPFD, 100);
    int other = fcntl(pair[1], F_DUPFD, 100);
    dup2(other, FRAME_FD);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_kept_is_sealed_and_read_again),
            cmocka_unit_test(test_what_is_refused_or_lost_does_not_end_the_run),
        cmocka_unit_test(test_the_end_gives_up_what_is_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
