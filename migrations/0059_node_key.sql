-- SPDX-License-Identifier: Apache-2.0
-- The public key of a machine's certificate: a renewal keeps it (scheduler/engine/enrol.h). NULL: of before, known from the next
-- renewal on. N-1: additive.
SET LOCAL ROLE falaj_owner;

ALTER TABLE node_cert ADD COLUMN key_sha bytea CHECK (length(key_sha) = 32);
