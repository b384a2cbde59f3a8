// SPDX-License-Identifier: Apache-2.0
// templates.ts - what a request can begin from: written ones, and the request of a former job.
import type { Schemas } from '../api/client.ts';
import type { Json } from './jobrequest.ts';

export interface Template {
  key: string;
  request: Json;
}
export const TEMPLATES: readonly Template[] = [
  {
    key: 'submit.plain',
    request: { name: '', kind: 'train', spec: { dataset_id: '', hidden: [64, 32], epochs: 30, seed: 1 } },
  },
  {
    key: 'submit.quick',
    request: {
      name: 'quick-look',
      kind: 'train',
      spec: { dataset_id: '', hidden: [16], epochs: 3, seed: 1 },
      max_runtime_seconds: 600,
    },
  },
  {
    key: 'submit.digits',
    request: {
      name: 'digits-classifier',
      kind: 'train',
      spec: {
        dataset_id: '',
        hidden: [64, 32],
        epochs: 60,
        batch_size: 32,
        learning_rate: 0.003,
        schedule: 'cosine',
        early_stop_patience: 10,
        seed: 1,
      },
    },
  },
  {
    key: 'submit.wide',
    request: {
      name: 'wide-network',
      kind: 'train',
      spec: {
        dataset_id: '',
        hidden: [512, 256],
        epochs: 100,
        batch_size: 64,
        learning_rate: 0.001,
        warmup_steps: 50,
        checkpoint_every: 10,
        seed: 1,
      },
      max_attempts: 5,
    },
  },
  { key: 'submit.drill', request: { name: 'drill', kind: 'noop', spec: { sleep_ms: 1000 } } },
];

/** The first data set that has a version stands in a template's empty place. */
export function withDataset(request: Json, dataset: string | undefined): Json {
  const spec = request['spec'] as Json | undefined;
  if (spec === undefined || spec['dataset_id'] !== '') return request;
  return { ...request, spec: { ...spec, dataset_id: dataset ?? '' } };
}

/** What was asked for when that job was submitted, as far as it is not what everybody gets. */
export function requestOf(job: Schemas['job'], homeZone: string): Json {
  const spec: Json = { ...((job.spec ?? {}) as Json) };
  delete spec['label_column'];
  delete spec['classes'];
  const out: Json = { name: job.name, kind: job.kind, spec };
  const put = (key: string, value: unknown, usual: unknown): void => {
    if (value !== undefined && value !== null && value !== '' && value !== usual) out[key] = value;
  };
  put('project_id', job.project_id, undefined);
  put('queue', job.queue, 'default');
  put('zone', job.zone, homeZone);
  put('pool', job.pool, 'default');
  put('slots', job.slots, 1);
  put('gpus', job.gpus, 0);
  put('priority', job.priority, 0);
  put('max_attempts', job.max_attempts, 3);
  put('max_runtime_seconds', job.max_runtime_s, 86_400);
  return out;
}
