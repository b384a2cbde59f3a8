// SPDX-License-Identifier: Apache-2.0
// auth_cli.test.ts - falaj login on a browser: the code it shows is entered by a person who is signed in; falaj logout --revoke ends it.
// About 15 s: the device grant asks every five seconds.
import { spawn, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { api, binary, must, PATIENCE_MS, type Ready } from './harness.ts';

const ready: Ready = inject('falaj');
const anybody = api(ready, null);
const config = mkdtempSync(join(tmpdir(), 'falaj-cli-'));
afterAll(() => rmSync(config, { recursive: true, force: true }));
const env = { ...process.env, FALAJ_CONFIG_DIR: config, FALAJ_TOKEN: '', FALAJ_URL: '', FALAJ_PROFILE: '' };

function run(args: string[]): { child: ReturnType<typeof spawn>; said: () => string; code: Promise<number> } {
  let text = '';
  const child = spawn(binary('falaj'), args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return { child, said: () => text, code: new Promise((done) => child.once('exit', (code) => done(code ?? 128))) };
}
async function shownCode(said: () => string): Promise<string> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await new Promise((next) => setTimeout(next, 50))) {
    const code = /^ {4}([A-Z]{4}-[A-Z]{4})$/m.exec(said())?.[1];
    if (code) return code;
  }
  throw new Error(`no code was shown: ${said()}`);
}
async function decide(user_code: string, approve: boolean): Promise<void> {
  const reply = await anybody.post('/v1/auth/login', ready.admin_login);
  const cookie = reply.headers.get('set-cookie')!.split(';')[0]!;
  const headers = { cookie, 'x-csrf-token': must(reply, 200).csrf_token, 'sec-fetch-site': 'same-origin' };
  must(await anybody.post('/v1/auth/device/approve', { user_code, approve }, { headers }), 200);
}

test('falaj login, whoami, logout --revoke', async () => {
  const login = run(['login', '--url', ready.api_url, '--name', 'here']);
  await decide(await shownCode(login.said), true);
  expect(await login.code, login.said()).toBe(0);
  const file = join(config, 'config');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const token = /^token = (flj_\S+)$/m.exec(readFileSync(file, 'utf8'))![1]!;
  expect(login.said()).not.toContain(token);
  expect(execFileSync(binary('falaj'), ['whoami', '-o', 'jsonpath=.name'], { env, encoding: 'utf8' }).trim()).toBe('operator');
  const logout = run(['logout', '--revoke']);
  expect(await logout.code, logout.said()).toBe(0);
  expect((await api(ready, token).get('/v1/me')).status).toBe(401);
});

test('falaj login that is refused on the browser', async () => {
  const login = run(['login', '--url', ready.api_url]);
  await decide(await shownCode(login.said), false);
  expect(await login.code, login.said()).toBe(4);
  expect(login.said()).toContain('refused');
});
