-- SPDX-License-Identifier: Apache-2.0
-- 0164 - text that a deployment made in a minute: tokens, and times by the classes of 0040's column, until the first token and
-- between two.
-- N-1: additive; what an older falaj-api counts has none.
SET LOCAL ROLE falaj_owner;
ALTER TABLE deployment_minute
  ADD COLUMN tokens bigint NOT NULL DEFAULT 0 CHECK (tokens >= 0),
  ADD COLUMN first_classes bigint[] NOT NULL DEFAULT '{}' CHECK (cardinality(first_classes) <= 96),
  ADD COLUMN gap_classes bigint[] NOT NULL DEFAULT '{}' CHECK (cardinality(gap_classes) <= 96);
