-- SPDX-License-Identifier: Apache-2.0
-- 0074 - entries whose leaves can be opened field by field (audit/fields.h), so that a filtered export proves that
-- nothing was left out. opened_from … opened_to: the entries of a log that have such leaves, without a break; NULL: none
-- has. An older program numbers without them and moves only size, so the next number of the newer one begins anew.
-- N-1: the older program numbers and exports as before; it cannot verify bundles of what the newer one numbered.
SET LOCAL ROLE falaj_owner;
ALTER TABLE audit_log_state ADD COLUMN opened_from bigint, ADD COLUMN opened_to bigint;
-- What an export was made as, so that its bytes can be made again.
ALTER TABLE audit_export ADD COLUMN version smallint NOT NULL DEFAULT 1,
                         ADD COLUMN proves text CHECK (proves IN ('completeness', 'inclusion'));
SELECT audit_guard_tables();
