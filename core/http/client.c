/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - one libcurl easy handle per client: it keeps its connections, so calls to the same place are cheap. */
#include "core/http/client_int.h"

#include <stdlib.h>
#include "core/base/assert.h"

struct http_client {
    CURL *curl;
    struct http_target *target;
};

struct http_client *http_client_new(const struct http_client_options *o, struct err *e)
{
    struct http_target *t = http_target_new(o, e);
    if (!t)
        return NULL;
    struct http_client *c = calloc(1, sizeof *c);
    ASSERT(c);
    c->target = t;
    c->curl = curl_easy_init();
    ASSERT(c->curl);
    return c;
}

bool http_client_reset(struct http_client *c)
{
    CURL *fresh = curl_easy_init();
    if (!fresh)
        return false;
    curl_easy_cleanup(c->curl);
    c->curl = fresh;
    return true;
}

void http_client_free(struct http_client *c)
{
    if (!c)
        return;
    curl_easy_cleanup(c->curl);
    http_target_unref(c->target);
    free(c);
}

void http_client_freep(struct http_client **c)
{
    http_client_free(*c);
    *c = NULL;
}

enum errc http_client_call(struct http_client *c, struct arena *a, const struct http_call *call, struct http_result *ret,
                           struct err *e)
{
    struct http_running run = { 0 };
    TRY(http_running_begin(&run, c->curl, c->target, call, a, e));
    return http_running_end(&run, curl_easy_perform(c->curl), ret, e);
}
