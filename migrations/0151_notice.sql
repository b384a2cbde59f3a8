-- SPDX-License-Identifier: Apache-2.0
-- 0151 - notifications: rules of a tenant, what each person chose, what is to be sent and was, and how far each log was read.
-- N-1: additive; the release before sends nothing.
SET LOCAL ROLE falaj_owner;
CREATE TABLE notice_rule (
  tenant_id    uuid NOT NULL,
  notification_id uuid NOT NULL,
  project_id   uuid,                                   -- NULL: of the whole tenant
  name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
  kind         text NOT NULL CHECK (kind IN ('mail', 'webhook')),
  state        text NOT NULL DEFAULT 'ACTIVE' CHECK (state IN ('ACTIVE', 'PAUSED')),
  events       text[] NOT NULL CHECK (cardinality(events) BETWEEN 1 AND 32),
  url          text CHECK (length(url) BETWEEN 8 AND 512),
  recipients   uuid[] NOT NULL DEFAULT '{}' CHECK (cardinality(recipients) <= 50),
  wait_minutes bigint NOT NULL DEFAULT 60 CHECK (wait_minutes BETWEEN 1 AND 10080),
  sealed       bytea,                                  -- the webhook's secret, under a key of the tenant derived from auth_key
  zone         text,                                   -- whose auth_key that is
  version      bigint NOT NULL DEFAULT 1,
  created_by   uuid NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, notification_id),
  UNIQUE (tenant_id, name),
  FOREIGN KEY (tenant_id, project_id) REFERENCES project (tenant_id, project_id),
  CHECK ((kind = 'webhook') = (url IS NOT NULL)),
  CHECK ((kind = 'webhook') = (sealed IS NOT NULL AND zone IS NOT NULL)),
  CHECK ((kind = 'mail') = (cardinality(recipients) > 0))
);
COMMENT ON TABLE notice_rule IS 'Which events of a tenant are told to whom, by mail or by a webhook';
SELECT falaj_tenant_table('notice_rule');

CREATE TABLE notice_person (
  tenant_id    uuid NOT NULL,
  user_id      uuid NOT NULL,
  address      text NOT NULL CHECK (length(address) BETWEEN 3 AND 254),
  confirmed_at timestamptz,                            -- NULL: nothing but the code is sent there
  code_hash    bytea CHECK (length(code_hash) = 32),
  code_until   timestamptz,
  code_tries   bigint NOT NULL DEFAULT 0 CHECK (code_tries >= 0),
  language     text NOT NULL DEFAULT 'en' CHECK (language IN ('en', 'ar')),
  events       text[] NOT NULL DEFAULT '{}' CHECK (cardinality(events) <= 32),
  updated_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, user_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES app_user (tenant_id, user_id)
);
COMMENT ON TABLE notice_person IS 'Where a person gets mail, in which language, and of which events of their own';
SELECT falaj_tenant_table('notice_person');

CREATE TABLE notice_delivery (
  tenant_id     uuid NOT NULL,
  delivery_id   uuid NOT NULL,
  notification_id uuid,                                -- NULL: a person's own choice
  user_id       uuid,                                  -- mail: who gets it
  target        uuid NOT NULL,                         -- the user of a mail, the rule of a webhook
  kind          text NOT NULL CHECK (kind IN ('mail', 'webhook')),
  event         text NOT NULL CHECK (length(event) <= 64),
  source        text NOT NULL CHECK (length(source) <= 128),
  resource_kind text NOT NULL DEFAULT '' CHECK (length(resource_kind) <= 64),
  resource_id   text NOT NULL DEFAULT '' CHECK (length(resource_id) <= 256),
  name          text NOT NULL DEFAULT '' CHECK (length(name) <= 256),
  project_id    uuid,
  detail        jsonb NOT NULL DEFAULT '{}',
  at            timestamptz NOT NULL,
  state         text NOT NULL DEFAULT 'WAITING' CHECK (state IN ('WAITING', 'DELIVERED', 'DEAD')),
  tries         bigint NOT NULL DEFAULT 0,
  next_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  reason        text NOT NULL DEFAULT '' CHECK (length(reason) <= 512),
  status        bigint,
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at      timestamptz,
  PRIMARY KEY (tenant_id, delivery_id),
  UNIQUE (tenant_id, target, source),
  CHECK ((state = 'WAITING') = (ended_at IS NULL)),
  CHECK ((kind = 'mail') = (user_id IS NOT NULL))
);
COMMENT ON TABLE notice_delivery IS 'What is to be sent, and what became of it';
CREATE INDEX notice_due ON notice_delivery (tenant_id, kind, next_at) WHERE state = 'WAITING';
CREATE INDEX notice_ended ON notice_delivery (ended_at) WHERE state <> 'WAITING';
SELECT falaj_tenant_table('notice_delivery');

CREATE TABLE notice_cursor (
  tenant_id uuid PRIMARY KEY,
  tseq      bigint NOT NULL CHECK (tseq >= 0),         -- entries of the tenant's log up to here were looked at
  patrolled_at timestamptz NOT NULL DEFAULT clock_timestamp() -- when its queue was looked at
);
COMMENT ON TABLE notice_cursor IS 'How far a tenant''s log was read for notifications; tenants without rules have no row';
SELECT falaj_tenant_table('notice_cursor');

GRANT SELECT, INSERT, UPDATE, DELETE ON notice_rule, notice_person, notice_delivery TO falaj_app;
GRANT SELECT, INSERT ON notice_cursor TO falaj_app;
GRANT SELECT ON notice_rule, notice_person TO falaj_scheduler;
GRANT SELECT, INSERT, UPDATE, DELETE ON notice_delivery TO falaj_scheduler;
GRANT SELECT, UPDATE ON notice_cursor TO falaj_scheduler;
GRANT SELECT (tenant_id, user_id, state) ON app_user TO falaj_scheduler;
GRANT SELECT (tenant_id, user_id, role, place, valid_from, valid_until) ON role_binding TO falaj_scheduler;
GRANT SELECT, DELETE ON notice_rule, notice_person, notice_delivery, notice_cursor TO falaj_system;
SELECT audit_guard_tables();
