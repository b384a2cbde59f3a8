// SPDX-License-Identifier: Apache-2.0
// permissions.mjs - writes src/api/roles.ts, the role matrix, from docs/gen/permissions.md, which falaj-api prints from its own tables.
//
//   node tests/permissions.mjs [FILE]
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const rows = readFileSync(join(root, 'docs/gen/permissions.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.slice(2, -2).split(' | '));
const [head, ...body] = rows;
const roles = head.slice(2);
const matrix = body.filter((r) => r.length === head.length && r[0].includes(':'));
const places = new Map(body.filter((r) => r.length === 3 && roles.includes(r[0])).map((r) => [r[0], r[1]]));
if (roles.length < 5 || matrix.length < 20 || places.size !== roles.length)
  throw new Error('docs/gen/permissions.md is not as it was: read it again');

const quoted = (list) => list.map((x) => `'${x}'`).join(', ');
const text = [
  '// SPDX-License-Identifier: Apache-2.0',
  '// roles.ts - which role has which permission, and where it can be held. Made by `npm run generate` from docs/gen/permissions.md.',
  '// prettier-ignore',
  `export const PERMISSIONS: readonly string[] = [${quoted(matrix.map((r) => r[0]))}];`,
  '// prettier-ignore',
  'export const ROLES: Readonly<Record<string, { places: string; has: readonly string[] }>> = {',
  ...roles.map((role, i) => {
    const has = matrix.filter((r) => r[i + 2] === 'Y').map((r) => r[0]);
    return `  '${role}': { places: '${places.get(role)}', has: [${quoted(has)}] },`;
  }),
  '};',
  '',
].join('\n');
writeFileSync(process.argv[2] ?? join(root, 'console/src/api/roles.ts'), text);
