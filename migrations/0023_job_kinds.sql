-- SPDX-License-Identifier: Apache-2.0
-- 0023 - the kinds that a job may have stand in core/wire/job_type.def; the check asks the function that is printed from it (helpers/).
-- N-1: the same kinds as before.
SET LOCAL ROLE falaj_owner;
ALTER TABLE job DROP CONSTRAINT job_kind_check, ADD CONSTRAINT job_kind_check CHECK (job_kind_is_known(kind));
