#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# red.sh - a test that must fail (WILL_FAIL): a run in which this one is green has lost its eyes. It does what every failing test does.
printf 'this failure is meant\n'
exit 1
