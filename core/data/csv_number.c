/* SPDX-License-Identifier: Apache-2.0 */
/* csv_number.c - decimal numbers: the exact short path (mantissa below 2^53 and a power of ten up to 22, both exact doubles, so
 * one
 * correctly rounded operation: Clinger 1990), else strtod. */
#include "core/data/csv.h"

bool csv_number(struct str s, double *ret)
{
    static const double ten[23] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    const char *p = s.ptr, *end = s.ptr + s.len;
    bool is_negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    uint64_t mantissa = 0;
    int digits = 0, scale = 0, significant = 0;
    bool has_dot = false;
    for (; p < end && ((*p >= '0' && *p <= '9') || (*p == '.' && !has_dot)); p++) {
        if (*p == '.') {
            has_dot = true;
            continue;
        }
        digits++;
        significant += mantissa > 0 || *p != '0';
        if (significant <= 18)
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
        scale -= has_dot;
    }
    if (digits == 0)
        return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        bool is_down = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+'))
            p++;
        if (p == end)
            return false;
        int exponent = 0;
        for (; p < end && *p >= '0' && *p <= '9'; p++)
            exponent = exponent < 100000 ? exponent * 10 + (*p - '0') : exponent;
        scale += is_down ? -exponent : exponent;
    }
    if (p != end)
        return false;
    if (significant > 18 || mantissa > ((uint64_t)1 << 53) || scale < -22 || scale > 22)
        return str_to_f64(s, ret);
    double v = (double)mantissa;
    v = scale < 0 ? v / ten[-scale] : v * ten[scale];
    *ret = is_negative ? -v : v;
    return true;
}
