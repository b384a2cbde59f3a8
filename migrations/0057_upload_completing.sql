-- SPDX-License-Identifier: Apache-2.0
-- 0057 - an upload is completed outside of any transaction: it is claimed meanwhile, and says how far it is. A content
-- that was refused leaves its reason until the upload expires. A claim that ran out counts for nothing.
-- N-1: additive; the release before shows an upload that is being completed as it stands, and completes none of them.
SET LOCAL ROLE falaj_owner;

ALTER TABLE upload DROP CONSTRAINT upload_state_check,
  ADD CONSTRAINT upload_state_check CHECK (state IN ('OPEN', 'COMPLETING', 'COMPLETED', 'REFUSED')),
  ADD COLUMN claim uuid,                                -- of the call that completes it
  ADD COLUMN claimed_until timestamptz,
  ADD COLUMN completed_bytes bigint NOT NULL DEFAULT 0 CHECK (completed_bytes BETWEEN 0 AND size_bytes),
  ADD COLUMN failure text CHECK (length(failure) <= 500),
  ADD CHECK ((state = 'COMPLETING') = (claim IS NOT NULL)),
  ADD CHECK ((claim IS NULL) = (claimed_until IS NULL));
