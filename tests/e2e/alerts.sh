#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# alerts.sh - Prometheus' own tool parses the alerts and the dashboard's queries, and sees each alert silent and firing.
# Needs promtool: deploy/install-deps.sh --package.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v promtool >/dev/null || { echo "alerts.sh: promtool is missing; deploy/install-deps.sh --package installs it"; exit 1; }
queries=$(mktemp)
trap 'rm -f "$queries"' EXIT
promtool check rules deploy/monitoring/alerts.yml
promtool test rules deploy/monitoring/alerts_test.yml
python3 deploy/monitoring/dashboard.py --queries >"$queries"
promtool check rules "$queries"
