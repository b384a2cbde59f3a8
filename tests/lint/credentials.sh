#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# credentials.sh - whoever stores a credential asks the one rule: a file with an INSERT into one of these tables calls a function of
# tenants/access/credential.h; the routes are tried by -L takeover. Exceptions, with the reason why nobody acts as somebody else:
# credentials.allow.
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

load_allow
tables='api_token|federated_user|issuer_subject|invitation|device_grant|session|password|break_glass'
mapfile -t list < <(sources c | xargs -r grep -lE "INSERT INTO ($tables)\b" || true)
for file in "${list[@]}"; do
    grep -qE '\bcredential_for_(user|role)\(' "$file" && continue
    line=$(grep -nE "INSERT INTO ($tables)\b" "$file" | head -n 1 | cut -d: -f1)
    allowed stores "$file" || bad "$file:$line" "a credential is stored without credential_for_user or credential_for_role, and no reason in credentials.allow"
done
stale_allow

finish
