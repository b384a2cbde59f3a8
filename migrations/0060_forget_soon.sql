-- SPDX-License-Identifier: Apache-2.0
-- A person's wrapped key and their columns leave the files of the database as soon as vacuum comes by, which it does for a
-- single dead row: these tables are small and seldom changed.
--
-- N-1: settings of storage; no program reads them.
SET LOCAL ROLE falaj_owner;
ALTER TABLE audit_subject_key SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);
ALTER TABLE invitation SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);
ALTER TABLE scim_user SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);
