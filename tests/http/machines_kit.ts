// SPDX-License-Identifier: Apache-2.0
// machines_kit.ts - what machines.test.ts says as a machine and about one: a join token, an enrolment, a registration, its row
// and the log. One platform and one authority of the test's own for the file.
import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { api, must, PATIENCE_MS, type Ready } from './harness.ts';
import { machineCall, Pki, type Answer, type Pair } from './pki.ts';

export const ready: Ready = inject('falaj');
export const admin = api(ready, ready.admin_token);
export const nobody = api(ready, null);
export const pki = new Pki();
export const zone = ready.zone;

export const facts = (name: string): Record<string, unknown> => ({
  name, zone, pool: 'default', slots: 1, cpus: 1, memory_bytes: 1, version: '0', boot_id: randomUUID(),
});
export const register = (who: Pair | null, name: string, tls = {}): Promise<Answer> =>
  machineCall(ready, who, '/v1/nodes/register', facts(name), tls);

export async function joinToken(more: Record<string, unknown> = {}): Promise<any> {
  return must(await admin.post('/v1/join-tokens', { zone, ...more }), 201);
}

export async function enrol(
  name: string, more: Record<string, unknown> = {},
): Promise<Pair & { not_after: string; chain: string; token: any }> {
  const token = await joinToken(more), key = pki.key();
  const got = must(await nobody.post('/v1/enrol', { token: token.token, name, csr_pem: pki.csr(key) }), 200);
  return { cert: got.certificate_pem, key, not_after: got.not_after, chain: got.chain_pem, token };
}

export async function nodeOf(name: string): Promise<any> {
  const all = must(await admin.get('/v1/nodes?page_size=200'), 200).data;
  return all.find((n: any) => n.name === name);
}

/** The first event of the platform's log that is found so, once it has its number. */
export async function logged(query: string): Promise<any> {
  for (const end = Date.now() + PATIENCE_MS; ; await new Promise((done) => setTimeout(done, 200))) {
    const [found] = must(await admin.get(`/v1/audit/events?${query}`), 200).data;
    if (found) return found.event;
    if (Date.now() > end) throw new Error(`no event in time: ${query}`);
  }
}
