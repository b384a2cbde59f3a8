/* SPDX-License-Identifier: Apache-2.0 */
/* test_child_place.c - a place asked for over descriptor 3, content that comes in pieces, and what the agent then has: the same
 * content under the key it gave, its size and digest. A place that is refused, and content beyond the limit. */
#include "lease_kit.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include "workers/lease/child_place.h"

struct agent {
    int socket, file;
    bool refuses;
    struct secret32 key;
    struct frame_result given;
};

/* The agent's half: PLACE -> OUTPUT with a file -> GIVEN. */
static void *agent_main(void *arg)
{
    static char room[FRAME_MAX];
    struct agent *a = arg;
    struct frame f;
    struct err e = { 0 };
    struct frame_output out = { kit_id(200), kit_id(60), kit_id(61), 1, a->key };
    assert_int_equal(frame_receive(a->socket, room, &f, &e), ERR_OK);
    assert_true(f.type == FRAME_PLACE && str_eq_c(f.body, "result"));
    struct str body = str_n((const char *)&out, a->refuses ? 0 : sizeof out);
    assert_int_equal(frame_send(a->socket, FRAME_OUTPUT, STR_NULL, body, &a->file, 1, true, &e), ERR_OK);
    if (a->refuses)
        return NULL;
    assert_int_equal(frame_receive(a->socket, room, &f, &e), ERR_OK);
    assert_true(f.type == FRAME_GIVEN && f.body.len == sizeof a->given);
    memcpy(&a->given, f.body.ptr, sizeof a->given);
    return NULL;
}

static struct child child;
static struct agent agent;
static pthread_t thread;

static void begin(bool refuses)
{
    int pair[2];
    char path[] = "/tmp/falaj-place-XXXXXX";
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    agent = (struct agent){ .socket = pair[0], .file = mkstemp(path), .refuses = refuses };
    unlink(path);
    memset(agent.key.b, 7, sizeof agent.key.b);
    assert_int_equal(dup2(pair[1], FRAME_FD), FRAME_FD);
    close(pair[1]);
    child = (struct child){ .arena = arena_new(1 << 20) };
    pthread_create(&thread, NULL, agent_main, &agent);
}

static void end(void)
{
    close(agent.socket);
    close(agent.file);
    arena_free(child.arena);
}

static void test_what_is_added_is_what_the_agent_has(void **state)
{
    (void)state;
    struct child_place p;
    struct err e = { 0 };
    uint8_t digest[32];
    CLEANUP(buf_releasep) struct buf all = BUF(1 << 20), opened = BUF(0);
    begin(false);
    assert_int_equal(child_place_open(&child, STR("result"), &p, &e), ERR_OK);
    for (int i = 0; i < 1000; i++) {
        buf_printf(&all, "piece %d\n", i);
        struct str text = str_fmt(child.arena, "piece %d\n", i);
        assert_int_equal(child_place_add(&p, text.ptr, text.len, &e), ERR_OK);
    }
    assert_int_equal(child_place_close(&p, &e), ERR_OK);
    pthread_join(thread, NULL);
    sha256(all.ptr, all.len, digest);
    assert_int_equal(agent.given.plain_size, all.len);
    assert_memory_equal(agent.given.sha256, digest, 32);
    assert_int_equal(lseek(agent.file, 0, SEEK_SET), 0);
    const struct stream_ref ref = { kit_id(200), STR("artifact"), kit_id(60), 1, kit_id(61) };
    assert_int_equal(child_open_sealed(agent.file, &ref, &agent.key, (int64_t)all.len, digest, &opened, &e), ERR_OK);
    assert_true(str_eq(buf_str(&opened), buf_str(&all)));
    end();
}

static void test_content_beyond_the_limit_is_refused(void **state)
{
    (void)state;
    struct child_place p;
    struct err e = { 0 };
    begin(false);
    assert_int_equal(child_place_open(&child, STR("result"), &p, &e), ERR_OK);
    p.bytes = LEASE_OUTPUT_MAX - 1;
    assert_int_equal(child_place_add(&p, "ab", 2, &e), ERR_TOO_LARGE);
    assert_non_null(strstr(e.msg, "result has more than 1073741824 bytes"));
    assert_int_equal(child_place_add(&p, "a", 1, &e), ERR_OK);
    assert_int_equal(child_place_close(&p, &e), ERR_OK);
    pthread_join(thread, NULL);
    end();
}

static void test_no_place_is_said(void **state)
{
    (void)state;
    struct child_place p;
    struct err e = { 0 };
    begin(true);
    assert_int_equal(child_place_open(&child, STR("result"), &p, &e), ERR_UNAVAILABLE);
    child_place_drop(&p);
    pthread_join(thread, NULL);
    end();
}

int main(void)
{
    assert_int_equal(dup2(0, FRAME_FD), FRAME_FD);      /* nothing else comes to lie there */
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_what_is_added_is_what_the_agent_has),
                                        cmocka_unit_test(test_content_beyond_the_limit_is_refused),
                                        cmocka_unit_test(test_no_place_is_said) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
