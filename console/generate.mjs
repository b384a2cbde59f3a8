// SPDX-License-Identifier: Apache-2.0
// generate.mjs - writes src/api/gen from docs/gen, which falaj-api prints from its own tables: the types of every call (schema.ts), the lists
// of names that the API knows (enums.ts), and which role has which permission (roles.ts).
//
// It runs before whatever reads them, needs no network, and none of them is kept in git. A file is replaced whole and only if it differs, so
// that several checks may run it at once.
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

mkdirSync(to, { recursive: true });
const document = JSON.parse(readFileSync(join(docs, 'openapi.json'), 'utf8'));
put('schema.ts', 'the calls of the API as types.', 'openapi.json', astToString(await openapiTS(document)));
put('enums.ts', 'the lists of names that the API knows.', 'openapi.json', enums(document));
put(
  'roles.ts',
  'which role has which permission, and where it can be held.',
  'permissions.md',
  roles(readFileSync(join(docs, 'permissions.md'), 'utf8')),
);
