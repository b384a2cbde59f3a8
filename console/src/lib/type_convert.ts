// SPDX-License-Identifier: Apache-2.0
// type_convert.ts - the job that makes a model of a model file.
import type { Schemas } from '../api/client.ts';

export const isConvertible = (v: Schemas['dataset_version']): boolean => v.format === 'onnx';
export const convertRequest = (of: Schemas['dataset'], v: Schemas['dataset_version']) => ({
  name: of.name!,
  kind: 'convert' as const,
  spec: { dataset_id: of.dataset_id!, dataset_version: v.version! },
});
