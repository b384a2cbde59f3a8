#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mutate.sh - do the tests notice when the code is wrong? Breaks it at N random places, one at a time, and counts the noticed.
#
#   tests/mutate.sh N SEED [--folder FOLDER]… [--db] [--http] [--least PERCENT] [--only FILE:LINE] [--minutes M]
#                          [--again] [-j JOBS]
#
# N SEED           how many, as many of each folder, and which: the same seed over the same sources names the same mutants
# --folder FOLDER  a folder or file to break (keys audit tenants scheduler registry workers); may be repeated
# --db             the tests on a real PostgreSQL too, and mutants in SQL; without it only files with a unit test near are broken
# --http           the tests of tests/http too; without it files that they alone test (lint/mirror.allow) are not broken
# --least PERCENT  exit status 1 when fewer of them are killed (0: only counted)
# --only FILE:LINE only mutants of this line
# --minutes M      begin no mutant after M minutes, and judge those that were
# --again          judge again what survived before
# -j JOBS          so many at a time (2)
#
# A mutant is one change of one token or statement in a function. It is one object, put before the libraries of the programs of
# build/asan that are linked with it (mutants/build.py); nothing is built but the tests that are asked. Which tests are near its
# file, and in which order, is read from names and words (mutants/near.py): its own first; after six it counts as survived, and so
# does one that only a test far away would notice. The first failure ends it. A test that is late, or fails after the time that it
# takes, must pass without the mutant in the same minute, or its word does not count. A mutant of which the compiler makes the
# same program, as in a line that this build leaves out, is not counted.
# Verdicts are kept in build/mutants/results.jsonl while the file they speak of is unchanged: the same command goes on where the
# last one stopped. One that does not compile is replaced by the next. What cannot be told from the original is listed with its
# reason in mutants/equivalent.txt and not counted.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
export LANG=C.UTF-8 TZ=UTC
asan=abort_on_error=0:halt_on_error=1:detect_leaks=1:strict_string_checks=1:allocator_may_return_null=0:color=never
export ASAN_OPTIONS=${ASAN_OPTIONS:-$asan}
exec python3 tests/mutants/mutate.py "$@"
