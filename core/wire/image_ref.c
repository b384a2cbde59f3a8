/* SPDX-License-Identifier: Apache-2.0 */
/* image_ref.c - the parts of a reference, each by its own alphabet. */
#include "core/wire/image_ref.h"
#include <string.h>
#include "core/wire/type_run.h"

enum { LABEL_MAX = 63, PORT_DIGITS = 5, PORT_MAX = 65535 };

static bool is_lower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/* Labels between dots: letters, digits and '-' inside. */
static bool is_host_name(struct str s)
{
    struct str label, rest = s;
    if (!s.len || s.len > 253)
        return false;
    for (bool more = true; more;) {
        more = str_cut(rest, '.', &label, &rest);
        if (!label.len || label.len > LABEL_MAX || !is_lower(label.ptr[0]) || !is_lower(label.ptr[label.len - 1]))
            return false;
        for (size_t i = 0; i < label.len; i++)
            if (!is_lower(label.ptr[i]) && label.ptr[i] != '-')
                return false;
    }
    return true;
}

bool image_host_parse(struct str text, struct str *ret_host, int *ret_port)
{
    struct str host = text, port = STR_NULL;
    int number = 0;
    const char *colon = text.len ? memchr(text.ptr, ':', text.len) : NULL;
    if (colon) {
        host = str_n(text.ptr, (size_t)(colon - text.ptr));
        port = str_n(colon + 1, text.len - host.len - 1);
        if (!port.len || port.len > PORT_DIGITS || port.ptr[0] == '0')
            return false;
        for (size_t i = 0; i < port.len; i++) {
            if (port.ptr[i] < '0' || port.ptr[i] > '9')
                return false;
            number = number * 10 + (port.ptr[i] - '0');
        }
        if (number > PORT_MAX)
            return false;
    }
    if (!is_host_name(host))
        return false;
    *ret_host = host;
    *ret_port = colon ? number : IMAGE_HTTPS;
    return true;
}

bool check_image_host(struct str s, const char **why)
{
    struct str host;
    int port;
    *why = "be HOST or HOST:PORT, in lower case and without https://";
    return image_host_parse(s, &host, &port);
}

bool image_host_eq(struct str a, struct str b)
{
    struct str host_a, host_b;
    int port_a, port_b;
    return image_host_parse(a, &host_a, &port_a) && image_host_parse(b, &host_b, &port_b) && str_eq(host_a, host_b) &&
           port_a == port_b;
}

/* Parts between '/': letters and digits, between them one '.', one or two '_', or any number of '-'. */
static bool is_name(struct str s)
{
    bool begins = true;
    if (!s.len || s.len > IMAGE_NAME_MAX)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        const char c = s.ptr[i];
        if (is_lower(c)) {
            begins = false;
            continue;
        }
        if (begins || i + 1 == s.len)
            return false;
        if (c == '/')
            begins = true;
        else if (c == '.' || c == '_' || c == '-') {
            size_t n = 1;
            while (i + n < s.len && s.ptr[i + n] == c)
                n++;
            if ((c == '.' && n > 1) || (c == '_' && n > 2) || i + n == s.len || !is_lower(s.ptr[i + n]))
                return false;
            i += n - 1;
        } else {
            return false;
        }
    }
    return !begins;
}

/* What stands behind the last ':' of a name is a tag. */
static enum errc refuse_no_digest(struct str host, struct str name, struct err *e)
{
    struct str tag = STR("latest");
    for (size_t i = name.len; i-- > 0;)
        if (name.ptr[i] == ':') {
            tag = str_n(name.ptr + i + 1, name.len - i - 1);
            name.len = i;
            break;
        }
    return FAIL(e, INVALID, "An image is pulled by digest: a tag may mean another one tomorrow. HOST/NAME@sha256:… is wanted; "
                "the digest is told by: skopeo inspect --format '{{.Digest}}' docker://%.*s/%.*s:%.*s", STR_ARG(host),
                STR_ARG(name), STR_ARG(tag));
}

enum errc image_ref_parse(struct str text, struct image_ref *ret, struct err *e)
{
    struct str host, rest, name, digest;
    int port;
    if (str_starts(text, "docker://"))
        text = str_n(text.ptr + 9, text.len - 9);
    if (text.len > IMAGE_REF_MAX)
        return FAIL(e, INVALID, "An image's reference has at most %d characters", IMAGE_REF_MAX);
    if (!str_cut(text, '/', &host, &rest) || !image_host_parse(host, &(struct str){ 0 }, &port))
        return FAIL(e, INVALID, "The registry's host is missing or no HOST[:PORT]: an image is named as HOST/NAME@sha256:…, with "
                    "the host in lower case (docker.io/library/debian is registry-1.docker.io/library/debian)");
    if (!str_cut(rest, '@', &name, &digest))
        return refuse_no_digest(host, rest, e);
    const char *colon = name.len ? memchr(name.ptr, ':', name.len) : NULL;
    if (colon)                          /* NAME:TAG@DIGEST: the digest decides, and the tag says nothing */
        name.len = (size_t)(colon - name.ptr);
    if (!is_name(name))
        return FAIL(e, INVALID, "The image's name has not the form that registries know: parts of lower-case letters and digits "
                    "between '/', as in library/debian");
    if (!run_is_digest(digest))
        return FAIL(e, INVALID, "The digest must be sha256: and 64 lower-case hex digits");
    *ret = (struct image_ref){ host, name, digest };
    return ERR_OK;
}
