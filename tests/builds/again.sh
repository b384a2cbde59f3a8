#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# again.sh BUILD LABEL - runs the tests with that label in another build tree, and is one test in the tree that asks.
set -euo pipefail
build=$1 label=$2
if [[ ! -f $build/build.ninja ]]; then
    printf 'again.sh: %s is not built; tests/run.sh builds it\n' "$build"
    exit 1
fi
exec ctest --test-dir "$build" -L "$label" --output-on-failure --no-tests=error
