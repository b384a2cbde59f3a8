// SPDX-License-Identifier: Apache-2.0
// generate.mjs - writes src/api/gen from docs/gen, which falaj-api prints from its own tables: the types of every call
// (schema.ts), the lists of names that the API knows (enums.ts), which role has which permission (roles.ts), and the kinds of
// job with the forms of their specs (jobtypes.ts).
//
// It runs before whatever reads them, needs no network, and none of them is kept in git. A file is replaced whole and only if
// it differs, so that several checks may run it at once.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';

const docs = join(import.meta.dirname, '../docs/gen');
const to = join(import.meta.dirname, 'src/api/gen');

function put(name, what, from, body) {
  const text = `// SPDX-License-Identifier: Apache-2.0\n// ${name} - ${what} Made by generate.mjs from docs/gen/${from}.\n${body}`;
  const file = join(to, name);
  try {
    if (readFileSync(file, 'utf8') === text) return;
  } catch {
    /* the first time */
  }
  const next = `${file}.${process.pid}`;
  writeFileSync(next, text);
  renameSync(next, file);
}

const quoted = (list) => `[${list.map((x) => `'${x}'`).join(', ')}]`;

/** JOB_STATE: the member state of the schema job. NODE_LIST_STATE: what the call node_list takes as its state. */
function enums(document) {
  const found = new Map();
  const note = (owner, name, schema) => {
    const names = schema?.enum ?? schema?.items?.enum;
    if (names) found.set(`${owner}_${name}`.toUpperCase(), names);
  };
  for (const [owner, schema] of Object.entries(document.components.schemas))
    for (const [name, member] of Object.entries(schema.properties ?? {})) note(owner, name, member);
  for (const operation of Object.values(document.paths).flatMap((p) => Object.values(p)))
    for (const p of operation.parameters ?? []) if (p.in === 'query') note(operation.operationId, p.name, p.schema);
  if (found.size < 20) throw new Error(`docs/gen/openapi.json has ${found.size} lists of names: read it again`);
  return [...found].map(([name, names]) => `export const ${name} = ${quoted(names)} as const;\n`).join('');
}

function roles(markdown) {
  const rows = markdown
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '));
  const [head, ...body] = rows;
  const names = head.slice(2);
  const matrix = body.filter((r) => r.length === head.length && r[0].includes(':'));
  const places = new Map(body.filter((r) => r.length === 3 && names.includes(r[0])).map((r) => [r[0], r[1]]));
  if (names.length < 5 || matrix.length < 20 || places.size !== names.length)
    throw new Error('docs/gen/permissions.md is not as it was: read it again');
  return [
    `export const PERMISSIONS: readonly string[] = ${quoted(matrix.map((r) => r[0]))};`,
    'export const ROLES: Readonly<Record<string, { places: string; has: readonly string[] }>> = {',
    ...names.map((role, i) => {
      const has = matrix.filter((r) => r[i + 2] === 'Y').map((r) => r[0]);
      return `  '${role}': { places: '${places.get(role)}', has: ${quoted(has)} },`;
    }),
    '};\n',
  ].join('\n');
}

/** The rows of job_types.md, and what POST /v1/jobs takes of each kind. */
function jobTypes(document, markdown) {
  const schemas = document.components.schemas;
  const forms = new Map(
    schemas.job_create.allOf.map((x) => [x.if.properties.kind.const, x.then.properties.spec.$ref.split('/').at(-1)]),
  );
  const rows = markdown
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.slice(2, -1).split(' | '));
  if (rows.length < 3 || rows.some((r) => r.length !== 9))
    throw new Error('docs/gen/job_types.md is not as it was: read it again');
  const KEPT = [
    'type',
    'pattern',
    'enum',
    'items',
    'default',
    'description',
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'minLength',
    'maxLength',
  ];
  KEPT.push('maxItems', 'readOnly', 'x-falaj-more');
  const plain = (m) =>
    Object.fromEntries(KEPT.filter((k) => k in m).map((k) => [k, k === 'items' ? plain(m.items) : m[k]]));
  const inside = (m) => schemas[m.$ref?.split('/').at(-1)]?.properties;
  const members = (all) => Object.fromEntries(Object.entries(all).map(([k, m]) => [k, plain(m)]));
  const member = (m) => (inside(m) ? { type: 'object', properties: members(inside(m)) } : plain(m));
  const form = (name) => ({
    required: schemas[name].required ?? [],
    properties: Object.fromEntries(Object.entries(schemas[name].properties).map(([k, m]) => [k, member(m)])),
  });
  const list = rows.map(([name, , , , reads, makes, stays, machines, programs]) => {
    const kind = name.replaceAll('`', '');
    const spec = forms.has(kind) ? form(forms.get(kind)) : null;
    const row = {
      reads: reads.trim(),
      makes: makes.trim(),
      stays: stays.trim() === 'yes',
      machines: Number(machines),
      programs: programs.trim() === 'yes',
      spec,
    };
    return `  ${kind}: ${JSON.stringify(row)},`;
  });
  return [
    'export interface Member { type?: string; pattern?: string; enum?: string[]; items?: Member; default?: unknown;',
    '  properties?: Record<string, Member>;',
    '  description?: string;',
    '  minimum?: number; maximum?: number; exclusiveMinimum?: number; minLength?: number; maxLength?: number; maxItems?: number;',
    "  readOnly?: boolean; 'x-falaj-more'?: boolean }",
    'export interface Form { required: string[]; properties: Record<string, Member> }',
    '/** spec: null where callers do not submit the kind. */',
    'export interface JobType { reads: string; makes: string; stays: boolean; machines: number; programs: boolean;',
    '  spec: Form | null }',
    `export type JobKind = ${rows.map((r) => `'${r[0].replaceAll('`', '')}'`).join(' | ')};`,
    'export const JOB_TYPES: Readonly<Record<JobKind, JobType>> = {',
    ...list,
    '};',
    `export const JOB_REQUEST: Form = ${JSON.stringify(form('job_create'))};\n`,
  ].join('\n');
}

mkdirSync(to, { recursive: true });
const document = JSON.parse(readFileSync(join(docs, 'openapi.json'), 'utf8'));
put(
  'schema.ts',
  'the calls of the API as types.',
  'openapi.json',
  astToString(await openapiTS(document, { defaultNonNullable: false })),
);
put('enums.ts', 'the lists of names that the API knows.', 'openapi.json', enums(document));
put(
  'roles.ts',
  'which role has which permission, and where it can be held.',
  'permissions.md',
  roles(readFileSync(join(docs, 'permissions.md'), 'utf8')),
);
put(
  'jobtypes.ts',
  'the kinds of job, and the forms of what is submitted.',
  'openapi.json and docs/gen/job_types.md',
  jobTypes(document, readFileSync(join(docs, 'job_types.md'), 'utf8')),
);
