// SPDX-License-Identifier: Apache-2.0
// jobrequest.ts - the request that submits a job: its fields with the limits of the API, judged here while it is written.
//
// The API's document says what there is, by kind; the form, the check and the command line are made from it. The API judges
// again.
import { z } from 'zod/mini';
import { JOB_REQUEST, JOB_TYPES, type Form, type Member } from '../api/gen/jobtypes.ts';
import { machinesOf, SUBMITTED, USUAL, type JobKind } from './jobtypes.ts';

export type Json = Record<string, unknown>;
export type Path = (string | number)[];
export interface Fault {
  path: Path;
  /** A key of the catalogue, with its values; `words` where the API said it. */
  key: string;
  values?: Record<string, unknown>;
  words?: string;
}
export type Group = 'what' | 'spec' | 'more' | 'where' | 'limits';
export interface JobField {
  path: string;
  kind:
    | 'text'
    | 'int'
    | 'real'
    | 'choice'
    | 'flag'
    | 'ints'
    | 'words'
    | 'dataset'
    | 'model'
    | 'version'
    | 'zone'
    | 'project';
  group: Group;
  /** Absent: of every kind. */
  only?: JobKind;
  required?: boolean;
  min?: number;
  max?: number;
  /** Greater than, not equal to. */
  over?: number;
  /** A list: how many at most. */
  items?: number;
  options?: readonly string[];
  /** A list of words: what each may be. */
  each?: readonly string[];
  pattern?: RegExp;
  /** What the API takes where it is absent. */
  usual?: string;
  flag?: string;
  /** What the API's document says of it, in English. */
  doc?: string;
}
/** The flags of `falaj job submit` outside a spec; a spec's are made from its members (cli/spec_flags.h). */
const FLAGS: Record<string, string> = {
  kind: 'kind',
  zone: 'zone',
  pool: 'pool',
  slots: 'slots',
  gpus: 'gpus',
  cpu_milli: 'cpu-milli',
  memory_bytes: 'memory-bytes',
  gpu_milli: 'gpu-milli',
  gpu_models: 'gpu-models',
  class: 'class',
  force_queue: 'force-queue',
  priority: 'priority',
  max_attempts: 'max-attempts',
  'nodes.max': 'nodes',
  'retry.on': 'retry',
  'retry.max': 'retry-max',
  'retry.backoff_s': 'retry-backoff',
  max_runtime_seconds: 'max-runtime',
};
const WHERE = [
  'project_id',
  'queue',
  'zone',
  'pool',
  'nodes.min',
  'nodes.max',
  'slots',
  'gpus',
  'cpu_milli',
  'memory_bytes',
  'gpu_milli',
  'gpu_models',
];
const VERSION = /^(\w+)_version$/;

function kindOfField(name: string, m: Member, names: readonly string[]): JobField['kind'] {
  const prefix = /^\^([a-z]+)_\[/.exec(m.pattern ?? '')?.[1];
  if (prefix === 'dst') return 'dataset';
  if (name === 'model_id') return 'model';
  if (prefix === 'prj') return 'project';
  if (name === 'zone') return 'zone';
  if (m.enum) return 'choice';
  if (m.type === 'boolean') return 'flag';
  if (m.type === 'array') return m.items?.type === 'string' ? 'words' : 'ints';
  if (m.type === 'number') return 'real';
  if (m.type !== 'integer') return 'text';
  const of = VERSION.exec(name)?.[1];
  return of !== undefined && names.includes(`${of}_id`) ? 'version' : 'int';
}
function groupOf(name: string, kind: JobField['kind'], m: Member, inSpec: boolean): Group {
  if (!inSpec) return name === 'name' || name === 'kind' ? 'what' : WHERE.includes(name) ? 'where' : 'limits';
  return kind === 'dataset' || kind === 'model' || kind === 'version' ? 'what' : m['x-falaj-more'] ? 'more' : 'spec';
}
/** The API takes 63 bits; beyond 53 a browser has no whole numbers. */
const mostOf = (m: Member): number | undefined =>
  m.maximum ?? m.maxLength ?? (m.type === 'integer' ? Number.MAX_SAFE_INTEGER : undefined);

function fieldFrom(name: string, m: Member, form: Form, only?: JobKind): JobField {
  const inSpec = only !== undefined;
  const kind = kindOfField(name, m, Object.keys(form.properties));
  const range = kind === 'ints' ? m.items! : m;
  const min = range.minimum ?? range.minLength;
  const max = mostOf(range);
  const flag = inSpec ? name.replace(/_id$/, '').replaceAll('_', '-') : FLAGS[name];
  const usual = kind === 'version' ? undefined : m.default;
  return {
    path: inSpec ? `spec.${name}` : name,
    kind,
    group: groupOf(name, kind, m, inSpec),
    ...(inSpec ? { only } : {}),
    ...(form.required.includes(name) ? { required: true } : {}),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(m.exclusiveMinimum === undefined ? {} : { over: m.exclusiveMinimum }),
    ...(m.maxItems === undefined ? {} : { items: m.maxItems }),
    ...(m.enum ? { options: name === 'kind' ? SUBMITTED : m.enum } : {}),
    ...(kind === 'words' && m.items?.enum ? { each: m.items.enum } : {}),
    ...(kind === 'flag' ? { options: ['false', 'true'] } : {}),
    ...(m.pattern === undefined ? {} : { pattern: new RegExp(m.pattern) }),
    ...(usual === undefined ? {} : { usual: showField(usual) }),
    ...(flag === undefined ? {} : { flag }),
    ...(m.description === undefined ? {} : { doc: m.description }),
  };
}
/** A member of a member is never required by itself: its whole may be absent. */
const INNER: Form = { required: [], properties: {} };
const fieldsIn = (form: Form, only?: JobKind): JobField[] =>
  Object.entries(form.properties)
    .filter(([name, m]) => !m.readOnly && (only !== undefined || name !== 'spec'))
    .flatMap(([name, m]) =>
      m.properties
        ? Object.entries(m.properties).map(([inner, x]) => fieldFrom(`${name}.${inner}`, x, INNER, only))
        : [fieldFrom(name, m, form, only)],
    );

export const JOB_FIELDS: readonly JobField[] = [
  ...fieldsIn(JOB_REQUEST),
  ...SUBMITTED.flatMap((kind) => fieldsIn(JOB_TYPES[kind].spec!, kind)),
];
export const pathOf = (path: string): Path => path.split('.');
export const kindOf = (request: Json): JobKind => SUBMITTED.find((k) => k === request['kind']) ?? USUAL;
export const fieldsOf = (kind: JobKind): JobField[] =>
  JOB_FIELDS.filter((f) => f.only === undefined || f.only === kind);

/** Not: what the kind has no use for, or what another member says too. It is seen where a request has it. */
export const isOffered = (f: JobField, kind: JobKind): boolean =>
  !f.path.startsWith('nodes.') || (f.path === 'nodes.max' && machinesOf(kind) > 1);

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
    if (f.items !== undefined && v.length > f.items) return { key: 'field.items', values: { max: f.items } };
    const bad = v.some((n) => !Number.isInteger(n) || (n as number) < f.min! || (n as number) > f.max!);
    return bad ? { key: 'field.each', values: limits } : null;
  }
  if (f.kind === 'words') {
    if (!Array.isArray(v) || v.some((w) => typeof w !== 'string')) return { key: 'field.text' };
    if (f.each && v.some((w) => !f.each!.includes(w as string)))
      return { key: 'field.choice', values: { options: f.each.join(', ') } };
    return f.items !== undefined && v.length > f.items ? { key: 'field.items', values: { max: f.items } } : null;
  }
  if (f.kind === 'flag')
    return typeof v === 'boolean' ? null : { key: 'field.choice', values: { options: f.options!.join(', ') } };
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
function schemaFor(kind: JobKind) {
  const at = (prefix: string) =>
    Object.fromEntries(
      fieldsOf(kind)
        .filter((f) => f.path.startsWith(prefix) && !f.path.slice(prefix.length).includes('.'))
        .map((f) => [f.path.slice(prefix.length), f.required ? one(f) : z.optional(one(f))]),
    );
  // What the API fills in by itself, a request may bring along.
  const form = JOB_TYPES[kind].spec!;
  const filled = Object.entries(form.properties).filter(([, m]) => m.readOnly);
  const spec = z.strictObject({ ...at('spec.'), ...Object.fromEntries(filled.map(([n]) => [n, z.optional(z.any())])) });
  const groups = new Set(
    fieldsOf(kind).flatMap((f) => (f.only === undefined && f.path.includes('.') ? [f.path.split('.')[0]!] : [])),
  );
  const inner = Object.fromEntries([...groups].map((g) => [g, z.optional(z.strictObject(at(`${g}.`)))]));
  return z.strictObject({ ...at(''), ...inner, spec: form.required.length > 0 ? spec : z.optional(spec) });
}
const schemas = new Map(SUBMITTED.map((kind) => [kind, schemaFor(kind)]));

/** Every fault of a request, in the order of the request. */
export function judgeRequest(request: unknown): Fault[] {
  if (typeof request !== 'object' || request === null || Array.isArray(request))
    return [{ path: [], key: 'submit.notMap' }];
  const seen = schemas.get(kindOf(request as Json))!.safeParse(request);
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

/** Words of a person, kept as they are: blanks may be meant. */
export const isFreeText = (f: JobField): boolean => f.kind === 'text' && f.pattern === undefined;

/** What a field's text means: a number, a list, true or false where it is one, else the text, which the check then refuses. */
export function readField(f: JobField, text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return f.required ? '' : undefined;
  if (f.kind === 'int' || f.kind === 'real' || f.kind === 'version')
    return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(trimmed) ? Number(trimmed) : trimmed;
  if (f.kind === 'ints') return /^\d+(\s*,\s*\d+)*$/.test(trimmed) ? trimmed.split(',').map(Number) : trimmed;
  if (f.kind === 'words') return trimmed.split(/\s*,\s*/);
  if (f.kind === 'flag') return trimmed === 'true' ? true : trimmed === 'false' ? false : trimmed;
  return isFreeText(f) ? text : trimmed;
}
export function showField(v: unknown): string {
  if (v === undefined || v === null) return '';
  if (Array.isArray(v)) return v.join(',');
  return typeof v === 'object' ? JSON.stringify(v) : String(v);
}
export const sameValue = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
