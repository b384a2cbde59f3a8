/* SPDX-License-Identifier: Apache-2.0 */
/* approval_kinds.c - the list. A kind is a constant beside its executor; its row here is what makes a request of it decidable. */
#include "api/approval_kinds.h"
#include "api/keys_int.h"
#include "tenants/access/appointment.h"
#include "tenants/identity/break_glass.h"
#include "tenants/home/tenant_life.h"
#include "tenants/home/transfer_policy.h"
#include "tenants/home/zone_law.h"

extern const struct approval_kind approval_hold_lift;

const struct approval_kind *const approval_kinds[] = {
    &appointment_kind,
    &tenant_officer_kind,
    &tenant_delete_kind,
    &break_glass_kind,
    &approval_hold_lift,
    &key_destroy_kind,
    &root_destroy_kind,
    &root_rotate_kind,
    &zone_policy_kind,
    &tenant_zones_kind,
    &transfer_policy_kind,
    &transfer_policy_strict_kind,
    NULL
};
