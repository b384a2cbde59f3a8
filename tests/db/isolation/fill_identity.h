/* SPDX-License-Identifier: Apache-2.0 */
/* fill_identity.h - rows of a tenant in the tables of sign-in from outside, of groups and of residency, for test_rls.c: each
 * needs the user and the binding that fill() made. */
#pragma once
#include "tests/db/tenants/fixture.h"

static inline void fill_federation(struct uuid t)
{
    char id[UUID_TEXT];
    uuid_text(t, id);
    sql("INSERT INTO issuer (tenant_id, issuer_id, name, issuer, audience, algorithms, jwks, single_use, created_by)"
        " SELECT tenant_id, tenant_id, 'i', 'https://i.example', tenant_id, '{RS256}', '{}', true, user_id FROM app_user WHERE tenant_id = '%s' LIMIT 1;"
        "INSERT INTO issuer_subject (tenant_id, issuer_id, subject, user_id) SELECT tenant_id, issuer_id, 's', created_by FROM issuer WHERE tenant_id = '%s';"
        "INSERT INTO jwt_used (tenant_id, issuer_id, jti_hash, until) VALUES ('%s', '%s', sha256('x'), now())", id, id, id, id);
    sql("INSERT INTO identity_provider (tenant_id, provider_id, name, issuer, client_id, scopes, name_claim, groups_claim, mfa_values, create_users, set_by)"
        " SELECT tenant_id, tenant_id, 'p', 'https://i.example', 'c', '{openid}', 'n', 'g', '{}', true, created_by FROM issuer WHERE tenant_id = '%s';"
        "INSERT INTO federated_user (tenant_id, provider_id, subject, user_id)"
        " SELECT tenant_id, provider_id, 's', set_by FROM identity_provider WHERE tenant_id = '%s';"
        "INSERT INTO federated_role (tenant_id, provider_id, binding_id, user_id, role)"
        " SELECT tenant_id, tenant_id, binding_id, user_id, role FROM role_binding WHERE tenant_id = '%s' LIMIT 1", id, id, id);
}

static inline void fill_groups(struct uuid t)
{
    char id[UUID_TEXT];
    uuid_text(t, id);
    sql("INSERT INTO scim_user (tenant_id, user_id) SELECT tenant_id, user_id FROM app_user WHERE tenant_id = '%s';"
        "INSERT INTO user_group (tenant_id, group_id, name) VALUES ('%s', '%s', 'g');"
        "INSERT INTO group_member (tenant_id, group_id, user_id) SELECT tenant_id, tenant_id, user_id FROM app_user WHERE tenant_id = '%s'",
        id, id, id, id);
}

static inline void fill_residency(struct uuid t)
{
    char id[UUID_TEXT];
    uuid_text(t, id);
    sql("INSERT INTO tenant_zone (tenant_id, data_class, zone) VALUES ('%s', 'gov', 'ae-dxb-1');"
        "INSERT INTO transfer_policy (tenant_id, policy_id, from_zone, to_zone, data_class, purpose, legal_basis, document_sha256, assessment_ref,"
        " valid_until, approval_id, proposed_by) VALUES ('%s', '%s', 'ae-dxb-1', 'ae-auh-1', 'personal', 'any', 'contract', sha256('x'), 'TIA-1',"
        " now() + interval '1 day', '%s', '%s');"
        "INSERT INTO transfer (tenant_id, transfer_id, policy_id, rule, from_zone, to_zone, data_class, purpose, dataset_id, version, from_object,"
        " to_object, bytes, by_user) VALUES ('%s', '%s', '%s', 'policy', 'ae-dxb-1', 'ae-auh-1', 'personal', 'any', '%s', 1, '%s', '%s', 1, '%s')",
        id, id, id, id, id, id, id, id, id, id, id, id);
}
