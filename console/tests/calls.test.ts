// SPDX-License-Identifier: Apache-2.0
// calls.test.ts - a call has the type that its address says: what the document does not know does not compile, and ESLint
// refuses an assertion of what comes. The cases of the types are judged by `npm run typecheck`; they are never called.
import { ESLint } from 'eslint';
import { expect, test } from 'vitest';
import type { change as Change, get as Get } from '../src/api/client.ts';

export async function cases(get: typeof Get, change: typeof Change, id: string, n: number): Promise<void> {
  const job: 'PENDING' | 'RUNNING' | 'FAILED' | string = (await get(`/v1/jobs/${id}`)).state;
  const name: string = (await get('/v1/jobs', { group: 'waiting', page_size: 5 })).data[0]?.name ?? job;
  const limit: number = (await get(`/v1/tenants/${id}/quotas`)).data[0]?.hard_limit ?? name.length;
  await get('/v1/jobs/counts');
  await change('POST', `/v1/jobs/${id}/cancel`);
  await change('POST', `/v1/keys/${id}/versions/${n}/destroy`, { reason: String(limit) });
  await change('PATCH', `/v1/budgets/${id}`, { amount: 4 }, { 'if-match': '"v1"' });

  // @ts-expect-error there is no such path
  await get('/v1/job');
  // @ts-expect-error there is no such path below a job
  await get(`/v1/jobs/${id}/nothing`);
  // @ts-expect-error a query belongs into the second place
  await get('/v1/jobs?page_size=5');
  // @ts-expect-error there is no such parameter
  await get('/v1/jobs', { groups: 'waiting' });
  // @ts-expect-error there is no such group
  await get('/v1/jobs', { group: 'wating' });
  // @ts-expect-error it is read, not changed
  await change('POST', '/v1/jobs/counts');
  // @ts-expect-error the answer has no such member
  void (await get(`/v1/jobs/${id}`)).status;
  // @ts-expect-error the body has no such member
  await change('PATCH', `/v1/budgets/${id}`, { amountt: 4 }, { 'if-match': '"v1"' });
  // @ts-expect-error the body has to say the reason
  await change('POST', `/v1/keys/${id}/versions/${n}/destroy`);
  // @ts-expect-error the version that was read is missing
  await change('PATCH', `/v1/budgets/${id}`, { amount: 4 });
}

const SLOW = 60_000; // the rules are read once
const eslint = new ESLint({ cwd: new URL('..', import.meta.url).pathname });
const faults = async (code: string): Promise<number> =>
  (await eslint.lintText(code, { filePath: 'src/pages/Some.tsx' }))[0]!.messages.filter((m) =>
    m.message.startsWith('The address gives'),
  ).length;
test.each([
  `useGet<Job>('/v1/jobs');`,
  `void change<Job>('POST', '/v1/jobs', body);`,
  `const job = (await get('/v1/jobs')) as Job;`,
  `const job = get('/v1/jobs') as Promise<Job>;`,
  `const jobs = query.data as Job[];`,
  `const job = row as Schemas['job'];`,
  `const jobs = rows as Schemas['job'][];`,
  `const job = row as components['schemas']['job'];`,
])('ESLint refuses %s', async (code) => expect(await faults(code)).toBeGreaterThan(0), SLOW);
test(
  'ESLint takes a call without an assertion',
  async () => expect(await faults(`const jobs = useGet('/v1/jobs', { group: 'failed' }).data?.data ?? [];`)).toBe(0),
  SLOW,
);
