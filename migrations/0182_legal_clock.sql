-- SPDX-License-Identifier: Apache-2.0
-- 0182 - legal clocks: requests of people, breaches and retentions that a law sets a term for, until they are closed.
-- N-1: additive; the release before has no register.
SET LOCAL ROLE falaj_owner;
CREATE TABLE legal_clock (
  tenant_id        uuid NOT NULL,
  clock_id         uuid NOT NULL,
  kind             text NOT NULL CHECK (kind IN ('access', 'erasure', 'rectification', 'objection', 'breach', 'retention')),
  zone             text NOT NULL REFERENCES zone,
  reference        text NOT NULL CHECK (length(reference) BETWEEN 1 AND 128),   -- the case's number; the form asks for no names
  law              text NOT NULL DEFAULT '' CHECK (length(law) <= 1280),        -- what sets the term, as it stood at the opening
  opened_at        timestamptz NOT NULL CHECK (opened_at >= '1970-01-01T00:00:00Z'),
  first_due_at     timestamptz NOT NULL,                                        -- as it was opened
  due_at           timestamptz NOT NULL,                                        -- with its extension
  opened_by        uuid NOT NULL,
  extended_at      timestamptz,
  extension_reason text CHECK (length(extension_reason) BETWEEN 1 AND 1024),
  closed_at        timestamptz,
  closed_by        uuid,
  note             text CHECK (length(note) BETWEEN 1 AND 1024),
  created_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, clock_id),
  CHECK (first_due_at > opened_at AND first_due_at <= opened_at + interval '301 years'),
  CHECK ((extended_at IS NULL) = (extension_reason IS NULL)),
  CHECK (CASE WHEN extended_at IS NULL THEN due_at = first_due_at
              ELSE kind NOT IN ('breach', 'retention') AND due_at > first_due_at
                   AND due_at <= first_due_at + interval '63 days' END),
  CHECK ((closed_at IS NULL) = (closed_by IS NULL) AND (closed_at IS NULL) = (note IS NULL))
);
COMMENT ON TABLE legal_clock IS 'Terms that a law sets: opened for a request or breach, extended at most once, closed';
CREATE INDEX legal_clock_open ON legal_clock (tenant_id, due_at, clock_id) WHERE closed_at IS NULL;
CREATE INDEX legal_clock_due ON legal_clock (tenant_id, due_at, clock_id);
SELECT falaj_tenant_table('legal_clock');
GRANT SELECT, INSERT ON legal_clock TO falaj_app;
GRANT UPDATE (due_at, extended_at, extension_reason, closed_at, closed_by, note) ON legal_clock TO falaj_app;
GRANT SELECT, DELETE ON legal_clock TO falaj_system;
SELECT audit_guard_tables();
