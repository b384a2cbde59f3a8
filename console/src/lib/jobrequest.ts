// SPDX-License-Identifier: Apache-2.0
// jobrequest.ts - the request that submits a job: its fields with the limits of the API, judged here while it is written.
//
// One table says what there is; the form, the check and the command line are made from it. The API judges again.
import { z } from 'zod/mini';

export type Json = Record<string, unknown>;
export type Path = (string | number)[];
export interface Fault {
  path: Path;
  /** A key of the catalogue, with its values; `words` where the API said it. */
  key: string;
  values?: Record<string, unknown>;
  words?: string;
}
export type Group = 'what' | 'training' | 'more' | 'where' | 'limits';
export interface JobField {
  path: string;
  kind: 'text' | 'int' | 'real' | 'choice' | 'ints' | 'dataset' | 'version' | 'zone' | 'project';
  group: Group;
  only?: 'train' | 'noop';
  required?: boolean;
  min?: number;
  max?: number;
  /** Greater than, not equal to. */
  over?: number;
  options?: readonly string[];
  pattern?: RegExp;
  /** What the API takes where it is absent. */
  usual?: string;
  flag?: string;
}
const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;
const id = (prefix: string): RegExp => new RegExp(`^${prefix}_[0-9a-f]{32}$`);
const train = { only: 'train' } as const;

export const JOB_FIELDS: readonly JobField[] = [
  { path: 'name', kind: 'text', group: 'what', required: true, min: 1, max: 128 },
  { path: 'kind', kind: 'choice', group: 'what', required: true, options: ['train', 'noop'], flag: 'kind' },
  {
    path: 'spec.dataset_id',
    kind: 'dataset',
    group: 'what',
    ...train,
    required: true,
    pattern: id('dst'),
    flag: 'dataset',
  },
  {
    path: 'spec.dataset_version',
    kind: 'version',
    group: 'what',
    ...train,
    min: 0,
    max: 1_000_000,
    flag: 'dataset-version',
  },
  { path: 'spec.hidden', kind: 'ints', group: 'training', ...train, min: 1, max: 8192, usual: '64,32', flag: 'hidden' },
  { path: 'spec.epochs', kind: 'int', group: 'training', ...train, min: 1, max: 10_000, usual: '30', flag: 'epochs' },
  {
    path: 'spec.batch_size',
    kind: 'int',
    group: 'training',
    ...train,
    min: 1,
    max: 65_536,
    usual: '32',
    flag: 'batch-size',
  },
  {
    path: 'spec.learning_rate',
    kind: 'real',
    group: 'training',
    ...train,
    over: 0,
    max: 10,
    usual: '0.003',
    flag: 'learning-rate',
  },
  { path: 'spec.family', kind: 'choice', group: 'more', ...train, options: ['mlp'], usual: 'mlp' },
  { path: 'spec.optimizer', kind: 'choice', group: 'more', ...train, options: ['adamw', 'sgd'], usual: 'adamw' },
  { path: 'spec.weight_decay', kind: 'real', group: 'more', ...train, min: 0, max: 1, usual: '0.0001' },
  {
    path: 'spec.schedule',
    kind: 'choice',
    group: 'more',
    ...train,
    options: ['const', 'cosine', 'linear'],
    usual: 'cosine',
  },
  { path: 'spec.warmup_steps', kind: 'int', group: 'more', ...train, min: 0, max: 1_000_000, usual: '0' },
  { path: 'spec.holdout', kind: 'real', group: 'more', ...train, min: 0.01, max: 0.9, usual: '0.2', flag: 'holdout' },
  { path: 'spec.early_stop_patience', kind: 'int', group: 'more', ...train, min: 0, max: 10_000, usual: '0' },
  { path: 'spec.checkpoint_every', kind: 'int', group: 'more', ...train, min: 0, max: 10_000, usual: '0' },
  // The API takes 63 bits; beyond 53 a browser has no whole numbers.
  {
    path: 'spec.seed',
    kind: 'int',
    group: 'more',
    ...train,
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    usual: '1',
    flag: 'seed',
  },
  { path: 'spec.sleep_ms', kind: 'int', group: 'training', only: 'noop', min: 0, max: 600_000, usual: '0' },
  { path: 'spec.fail', kind: 'text', group: 'training', only: 'noop', max: 200 },
  { path: 'project_id', kind: 'project', group: 'where', pattern: id('prj') },
  { path: 'queue', kind: 'text', group: 'where', max: 63, pattern: SLUG, usual: 'default' },
  { path: 'zone', kind: 'zone', group: 'where', max: 31, pattern: SLUG, flag: 'zone' },
  { path: 'pool', kind: 'text', group: 'where', max: 63, pattern: SLUG, usual: 'default', flag: 'pool' },
  { path: 'slots', kind: 'int', group: 'where', min: 1, max: 4096, usual: '1', flag: 'slots' },
  { path: 'gpus', kind: 'int', group: 'where', min: 0, max: 64, usual: '0', flag: 'gpus' },
  { path: 'priority', kind: 'int', group: 'limits', min: -1000, max: 1000, usual: '0', flag: 'priority' },
  { path: 'max_attempts', kind: 'int', group: 'limits', min: 1, max: 100, usual: '3', flag: 'max-attempts' },
  {
    path: 'max_runtime_seconds',
    kind: 'int',
    group: 'limits',
    min: 1,
    max: 2_592_000,
    usual: '86400',
    flag: 'max-runtime',
  },
];
export const HIDDEN_LAYERS_MAX = 8;
export const pathOf = (path: string): Path => path.split('.');
export const kindOf = (request: Json): 'train' | 'noop' => (request['kind'] === 'noop' ? 'noop' : 'train');
export const fieldsOf = (kind: 'train' | 'noop'): JobField[] =>
  JOB_FIELDS.filter((f) => f.only === undefined || f.only === kind);

export function valueAt(request: Json, path: string): unknown {
  return pathOf(path).reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? (at as Json)[key as string] : undefined),
    request,
  );
}

function judge(f: JobField, v: unknown): { key: string; values?: Record<string, unknown> } | null {
  const limits = { min: f.min, max: f.max, over: f.over };
  if (f.kind === 'int' || f.kind === 'real' || f.kind === 'version') {
    if (typeof v !== 'number' || !Number.isFinite(v)) return { key: 'field.number' };
    if (f.kind !== 'real' && !Number.isInteger(v)) return { key: 'field.whole' };
    if (f.min !== undefined && v < f.min) return { key: 'field.min', values: limits };
    if (f.over !== undefined && v <= f.over) return { key: 'field.over', values: limits };
    return f.max !== undefined && v > f.max ? { key: 'field.max', values: limits } : null;
  }
  if (f.kind === 'ints') {
    if (!Array.isArray(v)) return { key: 'field.list' };
    if (v.length > HIDDEN_LAYERS_MAX) return { key: 'field.items', values: { max: HIDDEN_LAYERS_MAX } };
    const bad = v.some((n) => !Number.isInteger(n) || (n as number) < f.min! || (n as number) > f.max!);
    return bad ? { key: 'field.each', values: limits } : null;
  }
  if (typeof v !== 'string') return { key: 'field.text' };
  if (v === '' && f.required) return { key: 'field.required' };
  if (f.options && !f.options.includes(v)) return { key: 'field.choice', values: { options: f.options.join(', ') } };
  if (f.max !== undefined && v.length > f.max) return { key: 'field.long', values: limits };
  return f.pattern && !f.pattern.test(v) ? { key: 'field.pattern' } : null;
}

const one = (f: JobField) =>
  z.any().check(
    z.superRefine((v: unknown, ctx) => {
      const bad = v === undefined || v === null ? (f.required ? { key: 'field.required' } : null) : judge(f, v);
      if (bad) ctx.addIssue({ code: 'custom', message: bad.key, params: bad.values ?? {} });
    }),
  );
function schemaFor(kind: 'train' | 'noop') {
  const at = (prefix: string) =>
    Object.fromEntries(
      fieldsOf(kind)
        .filter((f) => f.path.startsWith(prefix) && !f.path.slice(prefix.length).includes('.'))
        .map((f) => [f.path.slice(prefix.length), f.required ? one(f) : z.optional(one(f))]),
    );
  // The API fills these two in from the data set; a request may bring them along.
  const filled = kind === 'train' ? { label_column: z.optional(z.any()), classes: z.optional(z.any()) } : {};
  const spec = z.strictObject({ ...at('spec.'), ...filled });
  return z.strictObject({ ...at(''), spec: kind === 'train' ? spec : z.optional(spec) });
}
const schemas = { train: schemaFor('train'), noop: schemaFor('noop') };

/** Every fault of a request, in the order of the request. */
export function judgeRequest(request: unknown): Fault[] {
  if (typeof request !== 'object' || request === null || Array.isArray(request))
    return [{ path: [], key: 'submit.notMap' }];
  const seen = schemas[kindOf(request as Json)].safeParse(request);
  if (seen.success) return [];
  return seen.error.issues.flatMap((issue): Fault[] => {
    const path = issue.path.map((p) => (typeof p === 'number' ? p : String(p)));
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((k) => ({ path: [...path, k], key: 'field.unknown', values: { name: k } }));
    if (issue.code === 'custom') return [{ path, key: issue.message, values: issue.params ?? {} }];
    const isMissing = path.length > 0 && valueAt(request as Json, path.join('.')) === undefined;
    return [{ path, key: isMissing ? 'field.required' : 'field.map' }];
  });
}

/** What a field's text means: a number where it is one, a list where it is one, else the text, which the check then refuses. */
export function readField(f: JobField, text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return f.required ? '' : undefined;
  if (f.kind === 'int' || f.kind === 'real' || f.kind === 'version')
    return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(trimmed) ? Number(trimmed) : trimmed;
  if (f.kind === 'ints') return /^\d+(\s*,\s*\d+)*$/.test(trimmed) ? trimmed.split(',').map(Number) : trimmed;
  return f.path === 'name' || f.path === 'spec.fail' ? text : trimmed;
}
export const showField = (v: unknown): string =>
  v === undefined || v === null
    ? ''
    : Array.isArray(v)
      ? v.join(',')
      : typeof v === 'object'
        ? JSON.stringify(v)
        : String(v);
export const sameValue = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
