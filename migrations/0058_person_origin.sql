-- SPDX-License-Identifier: Apache-2.0
-- From whom an account, a role, a link or a token comes: whoever gave one may be the person behind the account, so that its
-- approval is not a second person's (tenants/access/second_person.h). N-1: additive; what the release before makes has no maker
-- and does not count.
SET LOCAL ROLE falaj_owner;

-- created_by: who made the account; itself: the installation made it; NULL: not known.
-- vouched_at: two people who count said that it is a person of its own; what was given before that does not speak against it.
ALTER TABLE app_user ADD COLUMN created_by uuid, ADD COLUMN vouched_at timestamptz, ADD COLUMN vouched_by uuid;

-- A giver is found by its id alone, wherever it belongs.
CREATE INDEX app_user_id ON app_user (user_id);

-- One row for each giver and kind, with the last time; rows stay when the role, link or token is gone.
CREATE TABLE person_origin (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  user_id       uuid NOT NULL,
  maker         uuid NOT NULL,                          -- of this tenant or of the platform
  what          text NOT NULL CHECK (what IN ('account', 'role', 'link', 'provider', 'token', 'subject')),
  at            timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, user_id, maker, what),
  FOREIGN KEY (tenant_id, user_id) REFERENCES app_user
);
SELECT falaj_tenant_table('person_origin');
GRANT SELECT ON person_origin TO falaj_app;
GRANT SELECT, INSERT, UPDATE ON person_origin TO falaj_system;
GRANT UPDATE ON app_user TO falaj_system;
GRANT SELECT, INSERT, DELETE ON role_binding TO falaj_system;
GRANT UPDATE ON api_token, session, device_grant, invitation TO falaj_system;
GRANT SELECT ON device_grant, issuer_subject, federated_user, person_origin TO falaj_system;

-- What is known of accounts made before: the invitation, the owner of a program, the log, who gave the first role, who set the
-- provider up.
UPDATE app_user u SET created_by = i.created_by FROM invitation i WHERE i.tenant_id = u.tenant_id AND i.user_id = u.user_id;
UPDATE app_user SET created_by = owner_id WHERE created_by IS NULL AND owner_id IS NOT NULL;
UPDATE app_user u SET created_by = l.actor
  FROM (SELECT DISTINCT ON (e.tenant_id, b.j #>> '{resource,id}') e.tenant_id, (b.j #>> '{resource,id}')::uuid AS user_id,
               (b.j #>> '{actor,id}')::uuid AS actor
          FROM audit_event e CROSS JOIN LATERAL (SELECT convert_from(e.body, 'UTF8')::jsonb AS j) b
         WHERE (position('"action":"user.create"'::bytea IN e.body) > 0
                OR position('"action":"scim.change"'::bytea IN e.body) > 0)
           AND position('"outcome":"success"'::bytea IN e.body) > 0 AND b.j #>> '{resource,kind}' = 'user'
           AND b.j #>> '{actor,id}' IS NOT NULL
         ORDER BY e.tenant_id, b.j #>> '{resource,id}', (b.j ->> 'ts_us')::bigint) l
 WHERE u.created_by IS NULL AND l.tenant_id = u.tenant_id AND l.user_id = u.user_id;
UPDATE app_user u SET created_by = f.set_by
  FROM (SELECT DISTINCT ON (x.tenant_id, x.user_id) x.tenant_id, x.user_id, p.set_by FROM federated_user x
          JOIN identity_provider p ON p.tenant_id = x.tenant_id AND p.provider_id = x.provider_id
         WHERE x.linked_by IS NULL ORDER BY x.tenant_id, x.user_id, x.created_at) f
 WHERE u.created_by IS NULL AND f.tenant_id = u.tenant_id AND f.user_id = u.user_id;
UPDATE app_user u SET created_by = b.created_by
  FROM (SELECT DISTINCT ON (tenant_id, user_id) tenant_id, user_id, created_by FROM role_binding ORDER BY tenant_id, user_id,
      created_at) b
 WHERE u.created_by IS NULL AND b.tenant_id = u.tenant_id AND b.user_id = u.user_id
   AND (b.created_by <> u.user_id OR u.tenant_id = '00000000-0000-0000-0000-000000000000');

INSERT INTO person_origin (tenant_id, user_id, maker, what, at)
SELECT tenant_id, user_id, maker, what, max(at) FROM (
  SELECT tenant_id, user_id, created_by AS maker, 'account' AS what, created_at AS at FROM app_user
  UNION ALL SELECT tenant_id, user_id, created_by, 'role', created_at FROM role_binding
  UNION ALL SELECT tenant_id, user_id, linked_by, 'link', created_at FROM federated_user
  UNION ALL SELECT f.tenant_id, f.user_id, p.set_by, 'provider', f.created_at FROM federated_user f
              JOIN identity_provider p ON p.tenant_id = f.tenant_id AND p.provider_id = f.provider_id
  UNION ALL SELECT tenant_id, user_id, created_by, 'token', created_at FROM api_token
  UNION ALL SELECT s.tenant_id, s.user_id, i.created_by, 'subject', i.created_at FROM issuer_subject s
              JOIN issuer i ON i.tenant_id = s.tenant_id AND i.issuer_id = s.issuer_id) x
 WHERE maker IS NOT NULL AND maker <> user_id GROUP BY tenant_id, user_id, maker, what;

SELECT audit_guard_tables();
