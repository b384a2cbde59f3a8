// SPDX-License-Identifier: Apache-2.0
// templates.ts - what a request can begin from: written ones, and the request of a former job.
import type { Schemas } from '../api/client.ts';
import { JOB_TYPES } from '../api/gen/jobtypes.ts';
import type { Json } from './jobrequest.ts';
import { NOOP_TEMPLATES } from './type_noop.ts';
import { TRAIN_TEMPLATES } from './type_train.ts';

export interface Template {
  key: string;
  request: Json;
}
/** Those of each kind stand in its type_<kind>.ts. */
export const TEMPLATES: readonly Template[] = [...TRAIN_TEMPLATES, ...NOOP_TEMPLATES];

/** The first data set that has a version stands in a template's empty place. */
export function withDataset(request: Json, dataset: string | undefined): Json {
  const spec = request['spec'] as Json | undefined;
  if (spec === undefined || spec['dataset_id'] !== '') return request;
  return { ...request, spec: { ...spec, dataset_id: dataset ?? '' } };
}

/** What was asked for when that job was submitted, as far as it is not what everybody gets. */
export function requestOf(job: Schemas['job'], homeZone: string): Json {
  const spec: Json = { ...((job.spec ?? {}) as Json) };
  for (const [name, member] of Object.entries(JOB_TYPES[job.kind].spec?.properties ?? {}))
    if (member.readOnly) delete spec[name];
  const out: Json = { name: job.name, kind: job.kind, spec };
  const put = (key: string, value: unknown, usual: unknown): void => {
    if (value !== undefined && value !== null && value !== '' && value !== usual) out[key] = value;
  };
  put('project_id', job.project_id, undefined);
  put('queue', job.queue, 'default');
  put('zone', job.zone, homeZone);
  put('pool', job.pool, 'default');
  if (job.nodes! > 1) out['nodes'] = { max: job.nodes };
  put('slots', job.slots, 1);
  put('gpus', job.gpus, 0);
  put('priority', job.priority, 0);
  put('max_attempts', job.max_attempts, 3);
  put('retry', job.retry, undefined);
  put('max_runtime_seconds', job.max_runtime_s, 86_400);
  put('cpu_milli', job.cpu_milli, 0);
  put('memory_bytes', job.memory_bytes, 0);
  put('gpu_milli', job.gpu_milli, 1000);
  put('gpu_models', job.gpu_models, '');
  put('class', job.class, 'default');
  return out;
}
