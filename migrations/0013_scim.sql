-- SPDX-License-Identifier: Apache-2.0
-- 0013 - provisioning by SCIM: what a provider says about people, groups of people, and the role that a group gives. N-1: additive.
SET LOCAL ROLE falaj_owner;

-- What SCIM keeps of a person besides app_user. A person whom no provider ever wrote to has no row.
CREATE TABLE scim_user (
  tenant_id     uuid NOT NULL,
  user_id       uuid NOT NULL,
  external_id   text CHECK (length(external_id) BETWEEN 1 AND 256),
  attributes    jsonb NOT NULL DEFAULT '{}',            -- name, displayName, emails, as scim_value.c writes them
  -- The version of app_user with which SCIM switched the person off. While it is app_user's version SCIM may switch the person on again;
  -- any other change since, an administrator's, takes that away.
  off_version   bigint,
  updated_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, user_id),
  UNIQUE (tenant_id, external_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES app_user
);
CREATE INDEX app_user_folded ON app_user (tenant_id, lower(name));

CREATE TABLE user_group (
  tenant_id     uuid NOT NULL REFERENCES tenant,
  group_id      uuid NOT NULL,
  name          text NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
  external_id   text CHECK (length(external_id) BETWEEN 1 AND 256),
  role          text,                                   -- what its members hold in the whole tenant; NULL: nothing
  role_set_by   uuid,
  version       bigint NOT NULL DEFAULT 1,
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, group_id),
  UNIQUE (tenant_id, external_id),
  FOREIGN KEY (tenant_id, role_set_by) REFERENCES app_user (tenant_id, user_id),
  CHECK ((role IS NULL) = (role_set_by IS NULL))
);
CREATE UNIQUE INDEX user_group_name ON user_group (tenant_id, lower(name));

CREATE TABLE group_member (
  tenant_id     uuid NOT NULL,
  group_id      uuid NOT NULL,
  user_id       uuid NOT NULL,
  PRIMARY KEY (tenant_id, group_id, user_id),
  FOREIGN KEY (tenant_id, group_id) REFERENCES user_group,
  FOREIGN KEY (tenant_id, user_id) REFERENCES app_user
);
CREATE INDEX group_member_user ON group_member (tenant_id, user_id);

-- What groups of SCIM give is told apart from what a sign-on provider's claims give: each takes back its own only.
ALTER TABLE role_binding DROP CONSTRAINT role_binding_source_check,
  ADD CONSTRAINT role_binding_source_check CHECK (source IN ('direct', 'group', 'invitation', 'scim'));

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['scim_user', 'user_group', 'group_member'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY own_tenant ON %I TO falaj_app USING (tenant_id = current_setting(''app.tenant'')::uuid)', t);
    EXECUTE format('CREATE POLICY system ON %I TO falaj_system, falaj_worker_api, falaj_scheduler, falaj_sequencer, falaj_owner USING (true)', t);
  END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON scim_user, user_group, group_member TO falaj_app;

-- Sessions, devices and open invitations end with the person too. Outside tokens (JWT) and sign-on providers leave nothing that lives on: each of
-- their sign-ins reads the user's state.
CREATE OR REPLACE FUNCTION user_end_credentials(t uuid, u uuid) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE api_token SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE tenant_id = t AND user_id = u;
  UPDATE session SET ended_at = clock_timestamp(), reason = 'revoked' WHERE tenant_id = t AND user_id = u AND ended_at IS NULL;
  UPDATE device_grant SET state = 'DENIED' WHERE of_tenant = t AND of_user = u AND state IN ('PENDING', 'APPROVED');
  UPDATE invitation SET state = 'WITHDRAWN' WHERE tenant_id = t AND created_by = u AND state = 'OPEN';
END $$;
