// SPDX-License-Identifier: Apache-2.0
// db.mjs - rows that no API would write so many of, straight into the database of the platform under test.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** As the superuser of that cluster: row-level security does not stand in the way. */
export function sql(t, text) {
  const { socket_dir: host, port } = t.ready.pg;
  const password = readFileSync(join(t.ready.data_dir, 'secrets/pg-postgres'), 'utf8').trim();
  const env = {
    ...process.env,
    PGPASSWORD: password,
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: 'postgres',
    PGDATABASE: 'falaj',
  };
  const args = ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-f', '-'];
  const done = spawnSync('psql', args, { input: text, env, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (done.status !== 0) throw new Error(`psql: ${done.stderr || done.error}`);
  return done.stdout.trim();
}
/** An identifier of the API as the uuid of a row. */
export const uuid = (id) => {
  const hex = id.slice(id.indexOf('_') + 1);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};
