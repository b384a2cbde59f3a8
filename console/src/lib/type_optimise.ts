// SPDX-License-Identifier: Apache-2.0
// type_optimise.ts - the job that makes a version of a model smaller. Its data set shows what that costs: the person chooses it.
import type { Json } from './jobrequest.ts';

export const optimiseRequest = (model: string, version: number | undefined): Json => ({
  name: 'smaller',
  kind: 'optimise',
  spec: { model_id: model, ...(version === undefined ? {} : { model_version: version }), dataset_id: '' },
});
