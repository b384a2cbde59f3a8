-- SPDX-License-Identifier: Apache-2.0
-- 0275 - whether an attempt got its job further than those before it, so that losing its machine costs no try (ADR 0140).
-- N-1: additive; programs of the release before neither write nor read it, and count such attempts as before.
SET LOCAL ROLE falaj_owner;
ALTER TABLE attempt ADD COLUMN got_further boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN attempt.got_further IS 'It kept a checkpoint of a later step than any attempt before it (attempt_further)';
