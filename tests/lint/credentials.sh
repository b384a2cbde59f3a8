#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# credentials.sh - whoever stores a credential asks the one rule: a file with an INSERT into one of these tables calls a function of
# tenants/access/credential.h. Exceptions, with the reason why nobody acts as somebody else: credentials.allow.
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

# Routes of such acts are known by name: a new one is tried by -L takeover, or its line says why it gives nothing.
routes=tests/lint/credential.routes
acts='token\.create|role_binding\.create|user\.(create|update)|invitation\.(create|accept)|identity_provider\.set|group\.set'
acts+='|scim\.change|auth\.(device\.grant|break_glass|password\.set|mfa\.set)|tenant\.create'
acts+='|node\.(enrol|join_token)|approval\.grant'
if [[ -f docs/gen/openapi.json && -f $routes ]]; then
    acts=$acts perl -MJSON::PP -0777 -ne 'my $d = decode_json($_);
        for my $o (grep { ref eq "HASH" } map { values %$_ } values %{ $d->{paths} }) {
            print "$o->{operationId}\n" if ($o->{"x-falaj-audit"} // "") =~ /^($ENV{acts})$/ }' docs/gen/openapi.json |
        sort >"$scratch/made"
    grep -vE '^#' "$routes" | cut -d' ' -f1 | sort >"$scratch/known"
    while read -r op; do
        bad "$routes:1" "the route $op makes or widens a credential: add it with its door of -L takeover, or the reason"
    done < <(comm -23 "$scratch/made" "$scratch/known")
    while read -r op; do
        bad "$routes:1" "there is no such route any more: $op"
    done < <(comm -13 "$scratch/made" "$scratch/known")
    while read -r door; do
        grep -qF "$door" tests/db/tenants/access/test_credential.c ||
            bad "$routes:1" "tests/db/tenants/access/test_credential.c has no door $door"
    done < <(grep -oE '"[^"]+"' "$routes" | sort -u)
fi
finish
