-- SPDX-License-Identifier: Apache-2.0
-- 0070 - a log is searched by pages instead of by four indexes: of every 256 entries there is a filter of the ids and
-- actions in them and the times between which they lie, written by the sequencer after it has numbered them. What is not
-- in a page yet is looked through. What the filter holds are bits, of which no id can be read; NULL: retention dropped
-- what it was made of, so the page is looked through.
-- Pages are no evidence: they can be made anew from audit_seq.
-- N-1: the older program numbers as before, and its searches are slow; pages are made of what it wrote when the new one runs.
SET LOCAL ROLE falaj_owner;
CREATE TABLE audit_page (
  tenant_id     uuid NOT NULL,
  first_tseq    bigint NOT NULL CHECK (first_tseq % 256 = 1),
  last_tseq     bigint NOT NULL CHECK (last_tseq = first_tseq + 255),
  min_at        timestamptz,
  max_at        timestamptz,
  bloom         bytea CHECK (length(bloom) = 1024),   -- audit/bloom.h
  PRIMARY KEY (tenant_id, first_tseq)
);
ALTER TABLE audit_page ALTER COLUMN bloom SET STORAGE PLAIN;
SELECT falaj_tenant_table('audit_page');
GRANT SELECT ON audit_page TO falaj_app, falaj_scheduler;
GRANT SELECT, INSERT ON audit_page TO falaj_sequencer;
GRANT SELECT, UPDATE ON audit_page TO falaj_system;
INSERT INTO tenant_kept VALUES ('audit_page', 'the audit log');
ALTER TABLE audit_log_state ADD COLUMN paged bigint NOT NULL DEFAULT 0;   -- entries in pages

DROP INDEX audit_seq_at, audit_seq_action, audit_seq_actor, audit_seq_resource;
-- What retention dropped, for exports.
CREATE INDEX audit_seq_drops ON audit_seq (tenant_id, tseq) WHERE action = 'audit.retention';
-- For retention, which takes the oldest of all logs.
CREATE INDEX audit_seq_age ON audit_seq USING brin (at);
SELECT audit_guard_tables();
