-- SPDX-License-Identifier: Apache-2.0
-- 0098 - data sets with columns of categories (words) and with missing values.
-- N-1: additive; the release before refuses such a content, as it did.
SET LOCAL ROLE falaj_owner;

ALTER TABLE dataset
  ADD COLUMN category_columns text[] NOT NULL DEFAULT '{}',
  ADD COLUMN missing_values boolean NOT NULL DEFAULT false;
