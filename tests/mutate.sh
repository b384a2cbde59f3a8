#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mutate.sh - do the tests notice when the code is wrong? Breaks it at N random places, one at a time, and counts how often a test fails.
#
#   tests/mutate.sh N SEED [--folder FOLDER]… [--db] [--least PERCENT] [--only FILE:LINE] [--minutes M]
#
# N SEED           how many, and which: the same seed over the same sources names the same mutants
# --folder FOLDER  a folder or file to break (keys audit tenants scheduler registry workers); may be repeated
# --db             the tests on a real PostgreSQL too, and mutants in SQL; without it only files that a unit test links are broken
# --least PERCENT  exit status 1 when fewer of them are killed (0: only counted)
# --only FILE:LINE only mutants of this line
# --minutes M      begin no mutant after M minutes, and judge those that were
#
# Works on a copy in build/mutate. A mutant is one change of one token or statement in a function; its file is compiled again, only tests
# that hold the function are linked and run, its own test first, and the first failure ends it. One that does not compile is replaced by the
# next. What cannot be told from the original is listed with its reason in tests/mutants/equivalent.txt and not counted.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
export LANG=C.UTF-8 TZ=UTC
exec python3 tests/mutants/mutate.py "$@"
