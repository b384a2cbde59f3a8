/* SPDX-License-Identifier: Apache-2.0 */
/* cards_kit.h - the cards of the tests' NVML (tests/cuda/fake_nvml.c): a file that says what they are. */
#pragma once
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char kit_cards_path[64];

static inline void kit_cards(const char *lines)
{
    if (!kit_cards_path[0]) {
        snprintf(kit_cards_path, sizeof kit_cards_path, "/tmp/falaj-cards-XXXXXX");
        int fd = mkstemp(kit_cards_path);
        assert_true(fd >= 0);
        close(fd);
        setenv("FAKE_NVML", kit_cards_path, 1);
    }
    char other[80];                     /* whole or not at all: it is read while this runs */
    snprintf(other, sizeof other, "%s.new", kit_cards_path);
    FILE *f = fopen(other, "we");
    assert_non_null(f);
    fputs(lines, f);
    fclose(f);
    assert_int_equal(rename(other, kit_cards_path), 0);
}
static inline void kit_no_cards(void)
{
    unlink(kit_cards_path);
    kit_cards_path[0] = 0;
    unsetenv("FAKE_NVML");
}
