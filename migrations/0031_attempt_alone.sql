-- SPDX-License-Identifier: Apache-2.0
-- 0031 - attempt without a foreign key to job: its only writer has just moved that very row in the same transaction (see idempotency in
-- 0001), and looking it up again for each attempt took as long as writing it. N-1: nothing is read anew.
SET LOCAL ROLE falaj_owner;
ALTER TABLE attempt DROP CONSTRAINT attempt_tenant_id_job_id_fkey;
