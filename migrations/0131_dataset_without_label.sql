-- SPDX-License-Identifier: Apache-2.0
-- 0131 - data sets whose rows have no label: they are there to be answered by a model (jobs of the kind batch).
-- N-1: the release before reads such a data set as one of classes and refuses to train on it at its first row.
SET LOCAL ROLE falaj_owner;

ALTER TABLE dataset DROP CONSTRAINT dataset_target_check,
  ADD CONSTRAINT dataset_target_check CHECK (target IN ('class', 'number', 'flags', 'none'));
