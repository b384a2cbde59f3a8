-- SPDX-License-Identifier: Apache-2.0
-- 0077 - data sets in more formats than CSV, whose label may be a class, a number or several flags; a version says its format
-- and how many classes (words of a vocabulary, flags) were found in it.
-- N-1: additive; the release before makes versions in CSV of data sets with classes, and reads no other.
SET LOCAL ROLE falaj_owner;

ALTER TABLE dataset DROP CONSTRAINT dataset_classes_check,
  ADD CONSTRAINT dataset_classes_check CHECK (classes BETWEEN 0 AND 100000 AND classes <> 1),  -- 0: what a version has
  ADD COLUMN target text NOT NULL DEFAULT 'class' CHECK (target IN ('class', 'number', 'flags')),
  ADD COLUMN ignored_columns text[] NOT NULL DEFAULT '{}';
ALTER TABLE dataset_version
  ADD COLUMN format text NOT NULL DEFAULT 'csv' CHECK (format IN ('csv', 'npy', 'tokens')),
  ADD COLUMN classes bigint NOT NULL DEFAULT 0 CHECK (classes >= 0);                          -- 0: the data set's
ALTER TABLE upload ADD COLUMN format text NOT NULL DEFAULT 'csv' CHECK (format IN ('csv', 'npy', 'tokens'));
