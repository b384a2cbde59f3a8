/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - one libcurl easy handle in a multi handle of its own per client: that keeps the connections, so calls to the same place are
 * cheap, and lets a call be given up while it waits, which curl_easy_perform does not. */
#include "core/http/client_int.h"

#include <stdlib.h>
#include "core/base/assert.h"

enum { LOOK_MS = 100, WAIT_MS = 1000 };

struct http_client {
    CURLM *multi;
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
    c->multi = curl_multi_init();
    ASSERT(c->curl && c->multi);
    return c;
}

bool http_client_reset(struct http_client *c)
{
    CURL *fresh = curl_easy_init();
    CURLM *multi = curl_multi_init();
    if (!fresh || !multi) {
        curl_easy_cleanup(fresh);
        curl_multi_cleanup(multi);
        return false;
    }
    curl_easy_cleanup(c->curl);
    curl_multi_cleanup(c->multi);
    c->curl = fresh;
    c->multi = multi;
    return true;
}

void http_client_free(struct http_client *c)
{
    if (!c)
        return;
    curl_easy_cleanup(c->curl);
    curl_multi_cleanup(c->multi);
    http_target_unref(c->target);
    free(c);
}

void http_client_freep(struct http_client **c)
{
    http_client_free(*c);
    *c = NULL;
}

/* *ret_unwanted: it was given up. */
static CURLcode perform(struct http_client *c, const struct http_call *call, bool *ret_unwanted)
{
    CURLcode code = CURLE_FAILED_INIT;
    CURLMcode multi = curl_multi_add_handle(c->multi, c->curl);
    for (int running = 1; multi == CURLM_OK && running;) {
        multi = curl_multi_perform(c->multi, &running);
        *ret_unwanted = call->is_unwanted && call->is_unwanted(call->unwanted_ctx);
        if (*ret_unwanted)
            break;
        if (multi == CURLM_OK && running)
            multi = curl_multi_poll(c->multi, NULL, 0, call->is_unwanted ? LOOK_MS : WAIT_MS, NULL);
    }
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(c->multi, &left));)
        if (m->msg == CURLMSG_DONE)
            code = m->data.result;
    curl_multi_remove_handle(c->multi, c->curl);
    return code;
}

enum errc http_client_call(struct http_client *c, struct arena *a, const struct http_call *call, struct http_result *ret,
                           struct err *e)
{
    struct http_running run = { 0 };
    struct err own = { 0 };
    bool is_unwanted = false;
    TRY(http_running_begin(&run, c->curl, c->target, call, a, e));
    CURLcode code = perform(c, call, &is_unwanted);
    enum errc rc = http_running_end(&run, code, ret, is_unwanted ? &own : e);
    return is_unwanted && rc != ERR_OK ? FAIL(e, UNAVAILABLE, "the call is no longer wanted") : rc;
}
