/* SPDX-License-Identifier: Apache-2.0 */
/* outside_kit.h - providers on loopback, one that hangs and those that answer once, and who asks them. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/table/config.h"
#include "tenants/identity/outside.h"

/* A provider on loopback. One that hangs takes connections (the kernel does) and never answers. */
struct provider { int fd; char url[64]; pthread_t thread; };

static inline void provider_open(struct provider *p)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof a;
    p->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(p->fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(p->fd, 16), 0);
    assert_int_equal(getsockname(p->fd, (struct sockaddr *)&a, &n), 0);
    snprintf(p->url, sizeof p->url, "http://127.0.0.1:%d/keys", ntohs(a.sin_port));
}

static inline void *answer(void *arg)
{
    static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
                                "Connection: close\r\n\r\n{}";
    const struct provider *p = arg;
    char request[4096];
    int fd = accept(p->fd, NULL, NULL);
    if (fd >= 0 && read(fd, request, sizeof request) > 0 && write(fd, reply, sizeof reply - 1) > 0)
        shutdown(fd, SHUT_WR);
    close(fd);
    return NULL;
}

static struct config config;
static struct app app = { .config = &config, .clock = &clock_system };
static struct provider hangs;

/* A fetch of its own thread, which counts those that are over. */
struct asker { uint8_t tenant; unsigned owner; const char *url; pthread_t thread; enum errc rc; };
static _Atomic int over;

static inline enum errc ask(uint8_t tenant, unsigned provider, const char *url, struct err *e)
{
    struct arena *a = arena_new(4 << 20);
    struct str text;
    enum errc rc = outside_document(&app, a, (struct outside_owner){ { { (uint8_t)(provider >> 8), (uint8_t)provider } },
        { { tenant } } }, str_c(url), false, &text, e);
    arena_free(a);
    return rc;
}

static inline void *asker_main(void *arg)
{
    struct asker *a = arg;
    struct err e;
    a->rc = ask(a->tenant, a->owner, a->url, &e);
    over++;
    return NULL;
}

static inline void begin_asking(struct asker *a)
{
    assert_int_equal(pthread_create(&a->thread, NULL, asker_main, a), 0);
}

static inline int setup(void **state)
{
    (void)state;
    config = (struct config){ .run_profile = PROFILE_DEV, .auth_provider_networks = "", .auth_provider_ca = "",
        .auth_provider_cache_ms = 1 };
    app.federation = federation_new(&config);
    over = 0;
    provider_open(&hangs);
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    close(hangs.fd);
    federation_free(app.federation);
    return 0;
}

/* One that answers once, to who asks as the tenant. */
static inline void is_answered(uint8_t tenant, unsigned owner)
{
    struct provider good;
    struct err e;
    provider_open(&good);
    assert_int_equal(pthread_create(&good.thread, NULL, answer, &good), 0);
    assert_int_equal(ask(tenant, owner, good.url, &e), ERR_OK);
    pthread_join(good.thread, NULL);
    close(good.fd);
}

/* n of them are at it, and nobody answers them. */
static inline void begin_hanging(struct asker *a, int *fd, int n)
{
    for (int i = 0; i < n; i++)
        begin_asking(&a[i]);
    for (int i = 0; i < n; i++)
        assert_true((fd[i] = accept(hangs.fd, NULL, NULL)) >= 0);
}

static inline void end_hanging(struct asker *a, int *fd, int n)
{
    for (int i = 0; i < n; i++) {
        pthread_join(a[i].thread, NULL);
        assert_int_equal(a[i].rc, ERR_DEADLINE);
        close(fd[i]);
    }
}
