-- SPDX-License-Identifier: Apache-2.0
-- Who linked a user to a subject of a provider by hand; NULL: the user signed in there first. A role beyond what such a maker could act
-- with ends the link (tenants/access/credential.h). Links of before count as made by hand when the user was there before them.
-- N-1: additive.
SET LOCAL ROLE falaj_owner;

ALTER TABLE federated_user ADD COLUMN linked_by uuid;
UPDATE federated_user f SET linked_by = f.user_id
  FROM app_user u WHERE u.tenant_id = f.tenant_id AND u.user_id = f.user_id AND u.created_at < f.created_at - interval '1 second';
