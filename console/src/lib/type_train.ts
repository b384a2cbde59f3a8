// SPDX-License-Identifier: Apache-2.0
// type_train.ts - training jobs to begin from.
import type { Template } from './templates.ts';

export const TRAIN_TEMPLATES: readonly Template[] = [
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
];
