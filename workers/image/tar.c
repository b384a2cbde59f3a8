/* SPDX-License-Identifier: Apache-2.0 */
/* tar.c - headers that tell of the next entry (pax's x, GNU's L and K) are read into it, and it is given out with what they
 * say. */
#include "workers/image/tar.h"

#include <string.h>

enum { EXTRA_MAX = 64 * 1024, SUM_AT = 148, SUM_BYTES = 8, NAME_AT = 0, NAME_BYTES = 100, MODE_AT = 100, SIZE_AT = 124,
    TYPE_AT = 156,
       LINK_AT = 157, MAGIC_AT = 257, PREFIX_AT = 345, PREFIX_BYTES = 155, NUMBER_BYTES = 12, MODE_BYTES = 8 };

/* What was said of the next entry. */
struct said {
    bool has_name, has_link, has_size;
    uint64_t size;
};

enum errc source_need(const struct source *s, void *p, size_t n, const char *what, struct err *e)
{
    for (size_t at = 0, got; at < n; at += got) {
        TRY(s->read(s->ctx, (char *)p + at, n - at, &got, e));
        if (!got)
            return FAIL(e, BAD_DATA, "%s is cut off", what);
    }
    return ERR_OK;
}

void tar_begin(struct tar *t, struct source from)
{
    *t = (struct tar){ .from = from };
}

static enum errc pass_over(struct tar *t, uint64_t n, struct err *e)
{
    char room[TAR_BLOCK * 8];
    for (uint64_t some; n; n -= some) {
        some = n < sizeof room ? n : sizeof room;
        TRY(source_need(&t->from, room, (size_t)some, "the archive", e));
        t->at += some;
    }
    return ERR_OK;
}

/* Octal digits, or GNU's base 256 where the first bit is set. false: neither. */
static bool number(const char *p, size_t n, uint64_t *ret)
{
    uint64_t v = 0;
    size_t i = 0;
    if ((unsigned char)*p & 0x80) {
        if ((unsigned char)*p != 0x80)
            return false;                   /* below 0, or too large */
        for (i = 1; i < n; i++) {
            if (v >> 55)
                return false;
            v = v << 8 | (unsigned char)p[i];
        }
        *ret = v;
        return true;
    }
    while (i < n && p[i] == ' ')
        i++;
    for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
        v = v << 3 | (uint64_t)(p[i] - '0');
    if (i < n && p[i] != ' ' && p[i] != '\0')
        return false;
    *ret = v;
    return true;
}

static bool sum_is_good(const char *h)
{
    uint64_t wanted, sum = 0;
    if (!number(h + SUM_AT, SUM_BYTES, &wanted))
        return false;
    for (int i = 0; i < TAR_BLOCK; i++)
        sum += i >= SUM_AT && i < SUM_AT + SUM_BYTES ? ' ' : (unsigned char)h[i];
    return sum == wanted;
}

static bool is_zero(const char *h)
{
    for (int i = 0; i < TAR_BLOCK; i++)
        if (h[i])
            return false;
    return true;
}

#define BAD(t, e, why) FAIL(e, BAD_DATA, "entry %llu of the archive %s", (unsigned long long)(t)->entries + 1, why)

static enum errc put_name(struct tar *t, char out[TAR_NAME_MAX], const char *p, size_t n, struct err *e)
{
    if (n >= TAR_NAME_MAX)
        return BAD(t, e, "has a name that is too long");
    if (memchr(p, '\0', n))
        return BAD(t, e, "has a NUL in its name");
    memcpy(out, p, n);
    out[n] = '\0';
    return ERR_OK;
}

static enum errc long_name(struct tar *t, char out[TAR_NAME_MAX], uint64_t size, struct err *e)
{
    char room[TAR_NAME_MAX + 1];
    if (size < 1 || size > sizeof room)
        return BAD(t, e, "has a name that is too long");
    TRY(source_need(&t->from, room, (size_t)size, "a long name", e));
    t->at += size;
    while (size && !room[size - 1])
        size--;
    return put_name(t, out, room, (size_t)size, e);
}

/* "LENGTH KEY=VALUE\n" */
static enum errc pax_record(struct tar *t, struct str record, struct said *s, struct err *e)
{
    struct str key, value;
    int64_t n;
    if (!str_cut(record, '=', &key, &value))
        return BAD(t, e, "has a pax record without '='");
    if (str_eq_c(key, "path")) {
        s->has_name = true;
        return put_name(t, t->name, value.ptr, value.len, e);
    }
    if (str_eq_c(key, "linkpath")) {
        s->has_link = true;
        return put_name(t, t->link, value.ptr, value.len, e);
    }
    if (str_eq_c(key, "size")) {
        if (!str_to_i64(value, 0, INT64_MAX, &n))
            return BAD(t, e, "has a size that is no number");
        s->has_size = true;
        s->size = (uint64_t)n;
    }
    return str_starts(key, "GNU.sparse") ? BAD(t, e, "is a sparse file, which is not read") : ERR_OK;
}

static enum errc pax(struct tar *t, uint64_t size, struct said *s, struct err *e)
{
    static _Thread_local char room[EXTRA_MAX];
    struct str rest = str_n(room, (size_t)size), digits, more;
    int64_t n;
    if (size > sizeof room)
        return BAD(t, e, "has pax records that are too long");
    TRY(source_need(&t->from, room, (size_t)size, "a pax record", e));
    t->at += size;
    while (rest.len) {
        if (!str_cut(rest, ' ', &digits, &more) || !str_to_i64(digits, (int64_t)digits.len + 3, (int64_t)rest.len, &n) ||
            rest.ptr[n - 1] != '\n')
            return BAD(t, e, "has a pax record of another length than it says");
        TRY(pax_record(t, str_n(more.ptr, (size_t)n - digits.len - 2), s, e));
        rest = str_n(rest.ptr + n, rest.len - (size_t)n);
    }
    return ERR_OK;
}

static size_t text_of(const char *p, size_t most)
{
    const char *end = memchr(p, '\0', most);
    return end ? (size_t)(end - p) : most;
}

static enum errc names(struct tar *t, const char *h, const struct said *s, struct err *e)
{
    char whole[PREFIX_BYTES + 1 + NAME_BYTES];
    size_t n = 0;
    const size_t prefix = text_of(h + PREFIX_AT, PREFIX_BYTES), name = text_of(h + NAME_AT, NAME_BYTES);
    if (memcmp(h + MAGIC_AT, "ustar\0", 6) == 0 && prefix) {
        memcpy(whole, h + PREFIX_AT, prefix);
        n = prefix;
        whole[n++] = '/';
    }
    memcpy(whole + n, h + NAME_AT, name);
    if (!s->has_name)
        TRY(put_name(t, t->name, whole, n + name, e));
    return s->has_link ? ERR_OK : put_name(t, t->link, h + LINK_AT, text_of(h + LINK_AT, NAME_BYTES), e);
}

static enum errc type_of(const struct tar *t, char c, enum tar_type *ret, struct err *e)
{
    static const struct { char c; enum tar_type type; } types[] = {
        { '0', TAR_FILE }, { '\0', TAR_FILE }, { '7', TAR_FILE }, { '1', TAR_LINK }, { '2', TAR_SYMLINK }, { '3', TAR_DEVICE },
        { '4', TAR_DEVICE }, { '5', TAR_DIR }, { '6', TAR_FIFO },
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].c == c) {
            *ret = types[i].type;
            return ERR_OK;
        }
    return BAD(t, e, "is of a type that is not read");
}

static uint64_t padding_of(uint64_t size)
{
    return (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
}

/* One that tells of the next, or of all that come. */
static enum errc extra(struct tar *t, char type, uint64_t size, struct said *s, bool *ret_is_one, struct err *e)
{
    *ret_is_one = true;
    if (type == 'L') {
        s->has_name = true;
        TRY(long_name(t, t->name, size, e));
    } else if (type == 'K') {
        s->has_link = true;
        TRY(long_name(t, t->link, size, e));
    } else if (type == 'x') {
        TRY(pax(t, size, s, e));
    } else if (type == 'g') {
        TRY(pass_over(t, size, e));
    } else {
        *ret_is_one = false;
        return ERR_OK;
    }
    return pass_over(t, padding_of(size), e);
}

static enum errc header(struct tar *t, char h[TAR_BLOCK], uint64_t *ret_size, struct err *e)
{
    uint64_t size;
    TRY(source_need(&t->from, h, TAR_BLOCK, "the archive", e));
    t->at += TAR_BLOCK;
    t->is_over = is_zero(h);
    if (t->is_over)
        return ERR_OK;
    if (!sum_is_good(h))
        return BAD(t, e, "has a wrong check sum");
    if (!number(h + SIZE_AT, NUMBER_BYTES, &size) || size > INT64_MAX - TAR_BLOCK)
        return BAD(t, e, "has a size that is no number");
    *ret_size = size;
    return ERR_OK;
}

enum errc tar_next(struct tar *t, struct tar_entry *ret, bool *ret_more, struct err *e)
{
    char h[TAR_BLOCK];
    struct said s = { 0 };
    uint64_t size = 0, mode;
    bool is_extra = true;
    TRY(pass_over(t, t->left + t->padding, e));
    t->left = t->padding = 0;
    *ret_more = false;
    while (is_extra && !t->is_over) {
        TRY(header(t, h, &size, e));
        if (t->is_over)
            return s.has_name || s.has_link || s.has_size ? BAD(t, e, "is not there, though it was told of") : ERR_OK;
        TRY(extra(t, h[TYPE_AT], size, &s, &is_extra, e));
    }
    if (t->is_over)
        return ERR_OK;
    TRY(names(t, h, &s, e));
    TRY(type_of(t, h[TYPE_AT], &ret->type, e));
    if (!number(h + MODE_AT, MODE_BYTES, &mode))
        return BAD(t, e, "has a mode that is no number");
    if (s.has_size)
        size = s.size;
    if (ret->type == TAR_FILE) {
        t->left = size;
        t->padding = padding_of(size);
    }
    ret->size = t->left;
    ret->name = str_c(t->name);
    ret->link = str_c(t->link);
    ret->mode = (uint32_t)(mode & 07777);
    t->entries++;
    *ret_more = true;
    return ERR_OK;
}

enum errc tar_read(struct tar *t, void *p, size_t n, size_t *ret, struct err *e)
{
    *ret = 0;
    if (n > t->left)
        n = (size_t)t->left;
    if (!n)
        return ERR_OK;
    TRY(source_need(&t->from, p, n, "the archive", e));
    t->left -= n;
    t->at += n;
    *ret = n;
    return ERR_OK;
}
