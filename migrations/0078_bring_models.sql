-- SPDX-License-Identifier: Apache-2.0
-- 0078 - a version of a data set may be a model file that other programs wrote; a model version keeps its signature.
-- N-1: additive; the release before makes and reads no such versions.
SET LOCAL ROLE falaj_owner;
ALTER TABLE dataset_version DROP CONSTRAINT dataset_version_format_check,
  ADD CONSTRAINT dataset_version_format_check CHECK (format IN ('csv', 'npy', 'tokens', 'onnx'));
ALTER TABLE upload DROP CONSTRAINT upload_format_check,
  ADD CONSTRAINT upload_format_check CHECK (format IN ('csv', 'npy', 'tokens', 'onnx'));
ALTER TABLE model_version ADD COLUMN signature jsonb;         -- core/data/model_sig.h; NULL: registered before it was kept
