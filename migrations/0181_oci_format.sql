-- SPDX-License-Identifier: Apache-2.0
-- 0181 - a version of a data set may be an OCI image, in one file, that programs run in.
-- N-1: additive; the release before makes and reads no such versions.
SET LOCAL ROLE falaj_owner;
ALTER TABLE dataset_version DROP CONSTRAINT dataset_version_format_check,
  ADD CONSTRAINT dataset_version_format_check CHECK (format IN ('csv', 'npy', 'tokens', 'onnx', 'oci'));
ALTER TABLE upload DROP CONSTRAINT upload_format_check,
  ADD CONSTRAINT upload_format_check CHECK (format IN ('csv', 'npy', 'tokens', 'onnx', 'oci'));
