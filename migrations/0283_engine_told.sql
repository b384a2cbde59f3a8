-- SPDX-License-Identifier: Apache-2.0
-- 0283 - which waiting jobs an engine's deal of places has told why they wait (ADR 0148), so that whoever leads next takes it
-- back.
-- N-1: additive; a scheduler of the release before tells jobs without noting it, as it did.
SET LOCAL ROLE falaj_owner;
ALTER TABLE engine ADD COLUMN told_tenants uuid[] NOT NULL DEFAULT '{}', ADD COLUMN told_jobs uuid[] NOT NULL DEFAULT '{}',
                   ADD CONSTRAINT engine_told_check CHECK (cardinality(told_tenants) = cardinality(told_jobs)
                                                           AND cardinality(told_jobs) <= 1000);
COMMENT ON COLUMN engine.told_jobs IS 'Jobs whose message says that places are kept; of the tenants beside them';
GRANT UPDATE (told_tenants, told_jobs) ON engine TO falaj_scheduler;
