// SPDX-License-Identifier: Apache-2.0
// shell.mjs - what a page says for a terminal, run there as it stands: against this platform, with its programs, as the tenant's admin.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export async function inShell(t, text, program = 'bash') {
  const env = {
    ...process.env,
    PATH: `${t.bin}:${process.env.PATH}`,
    FALAJ_URL: t.base,
    FALAJ_TOKEN: t.tenantToken,
    no_proxy: '127.0.0.1',
  };
  return (await run(program, ['-c', text], { env, timeout: 60_000 })).stdout;
}
