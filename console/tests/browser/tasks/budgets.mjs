// SPDX-License-Identifier: Apache-2.0
// budgets.mjs - what each kind of person asks, and in how many actions the console answers, from the first page on.
// An action is a click, a filled field, a chosen option, a chord of keys, or what is typed on another machine.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { as } from '../person.mjs';
import { PASSWORD, run, until } from '../platform.mjs';
import { list, walk } from '../steps.mjs';

const dir = mkdtempSync(join(tmpdir(), 'falaj-budgets-'));
const agents = [];
process.on('exit', () => {
  for (const a of agents) a.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

/** Omar reads the data set, so that there is an answer; a job of his has diverged. */
async function seed(t) {
  const login = await fetch(`${t.base}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() },
    body: JSON.stringify({ tenant: 'palm', name: t.people.engineer.name, password: PASSWORD }),
  });
  const cookie = login.headers
    .getSetCookie()
    .map((c) => c.split(';')[0])
    .join('; ');
  const read = await fetch(`${t.base}/v1/datasets/${t.ids.set}/versions/1/content`, { headers: { cookie } });
  await read.arrayBuffer();
  await until('the event', async () => {
    const page = await t.tenant('GET', '/v1/audit/events?action=dataset.content.read&page_size=5');
    return page.data.some((e) => e.actor_name === t.people.engineer.name);
  });
  const officer = await as(t, t.people.compliance.name);
  const late = { kind: 'access', zone: t.ids.zone, opened_at: '2026-01-01T00:00:00Z', due_at: '2026-01-31T00:00:00Z' };
  for (const lang of ['en', 'ar']) await officer('/v1/legal-clocks', { ...late, reference: `case ${lang}` });
  await t.tenant('POST', '/v1/jobs', { name: 'poolless', kind: 'noop', pool: 'h100', spec: {} });
  const job = await t.tenant('POST', '/v1/jobs', {
    name: 'diverges',
    kind: 'train',
    max_attempts: 1,
    spec: { dataset_id: t.ids.set, hidden: [16], epochs: 3, learning_rate: 10, optimizer: 'sgd' },
  });
  await until('the failed job', async () => (await t.tenant('GET', `/v1/jobs/${job.job_id}`)).state === 'FAILED');
}

/** The log takes its times from its own clock, so a test has none of last month: that is asked, and this month. */
const asks = (when, answered) => async (s, t) => {
  await s.press('Control+k');
  await s.fill(s.word('palette.title'), 'digits');
  const name = s.word('palette.whoRead', { name: '\u2068digits\u2069', when: s.word(`when.${when}`) });
  await s.click('option', name);
  await answered(s, t);
  if (!s.page.url().includes(`resource=${t.ids.set}`)) t.fault(s.page.where, `asked ${s.page.url()}`);
};

/** What the dialog says is typed on the new machine, which here is a folder of this one: its agent's settings and the token. */
function agentOf(t, name, conf, token) {
  const at = join(dir, name);
  const here = {
    'worker.api_url': t.ready.worker_url,
    'worker.name': name,
    'worker.slots': '1',
    'worker.cert': `${at}.pem`,
    'worker.key': `${at}.key`,
    'worker.work_dir': `${at}.work`,
    'worker.ca': join(t.ready.data_dir, `tls/ca-${t.ready.zone}.pem`),
    'worker.join_token_file': `${at}.token`,
  };
  writeFileSync(`${at}.token`, `${token}\n`, { mode: 0o600 });
  const said = Object.fromEntries(conf.split('\n').map((l) => l.split(' = ')));
  const args = Object.entries({ ...said, ...here }).map(([k, v]) => `--${k}=${v}`);
  agents.push(spawn(join(t.bin, 'falaj-worker'), args, { stdio: 'ignore' }));
}

const TASKS = [
  {
    person: 'who read it last month',
    as: 'compliance',
    budget: 3,
    expected: [404], // the log has no signed head in its first minute
    script: asks('last_month', (s) => s.see('text', s.word('list.noMatch'))),
  },
  {
    person: 'who read it this month',
    as: 'compliance',
    budget: 3,
    script: asks('month', (s, t) => s.see('link', new RegExp(t.people.engineer.name))),
  },
  {
    person: 'a second node',
    as: 'operator',
    budget: 6,
    script: async (s, t) => {
      const name = s.own('second');
      await s.click('button', s.word('shell.create'));
      await s.click('menuitem', s.word('nav.newNode'));
      await s.click('button', s.word('join.new'), { inside: s.page.getByRole('dialog') });
      const shown = s.page.getByRole('dialog').locator('code');
      const token = (await shown.nth(0).textContent()).trim();
      const conf = await shown.filter({ hasText: 'worker.zone' }).first().textContent();
      s.step('store the token and the settings on the new machine');
      s.step('start the agent there');
      agentOf(t, name, conf, token);
      await s.see('link', name, { inside: s.page.getByRole('status') });
      await s.page
        .getByRole('status')
        .getByText(s.word('value.READY'), { exact: true })
        .first()
        .waitFor({ timeout: 60_000 });
    },
  },
  {
    person: 'a failed job, corrected',
    as: 'engineer',
    budget: 4,
    script: async (s) => {
      await s.click('link', s.word('overview.readLog'));
      await s.click('link', s.word('job.again'));
      await s.fill(s.word('submit.f_learning_rate'), '0.01');
      await s.click('button', s.word('submit.go'));
      await s.page.getByText(s.word('value.COMPLETED'), { exact: true }).first().waitFor({ timeout: 60_000 });
    },
  },
  {
    person: 'a model from the comparison',
    as: 'engineer',
    budget: 2,
    path: (ids) => `/experiments/compare?runs=${ids.job.slice(4)},${ids.second.slice(4)}`,
    script: async (s) => {
      await s.page.locator('.run-heads').getByText('digits wide').waitFor();
      await s.activate(
        s.page.locator('.run-heads li', { hasText: 'digits wide' }).getByRole('button').first(),
        'register the second run',
      );
      await s.click('button', s.word('models.register'), { inside: s.page.getByRole('dialog') });
      await s.see('heading', /digits-wide/);
    },
  },
  {
    person: 'a legal clock',
    as: 'compliance',
    budget: 5, // three where the law of the zone sets when it is due
    script: async (s) => {
      await s.click('button', s.word('shell.create'));
      await s.click('menuitem', s.word('nav.newLegalClock'));
      await s.fill(s.word('terms.reference'), s.own('dsar'), { inside: s.page.getByRole('dialog') });
      await s.fill(s.word('terms.due'), '2099-01-31', { inside: s.page.getByRole('dialog') });
      await s.click('button', s.word('terms.open'), { inside: s.page.getByRole('dialog') });
      await s.see('text', s.own('dsar'));
    },
  },
  {
    person: 'a late clock',
    as: 'compliance',
    budget: 4,
    script: async (s) => {
      const name = `case ${s.lang}`;
      await s.click('link', new RegExp(s.word('overview.legalClocks')), { inside: s.page.locator('main') });
      const row = s.page.locator('tbody tr', { hasText: name }).first();
      await s.click('button', s.word('terms.close'), { inside: row });
      await s.fill(s.word('terms.note'), 'answered', { inside: s.page.getByRole('dialog') });
      await s.click('button', s.word('terms.close'), { inside: s.page.getByRole('dialog') });
      await row.getByText(s.word('value.CLOSED'), { exact: true }).waitFor();
    },
  },
  {
    person: 'what would start a job now',
    as: 'engineer',
    budget: 2,
    script: async (s) => {
      await s.click('link', s.word('nav.clock'));
      await s.click('button', s.word('clock.whatNow'));
      await s.page.locator('.clock-changes').first().waitFor();
    },
  },
  {
    person: 'a new queue',
    as: 'admin',
    budget: 4,
    script: async (s) => {
      await s.click('button', s.word('shell.create'));
      await s.click('menuitem', s.word('nav.newQueue'));
      await s.fill(s.word('queues.name'), s.own('nightly'), { inside: s.page.getByRole('dialog') });
      await s.click('button', s.word('queues.declare'), { inside: s.page.getByRole('dialog') });
      await s.see('link', s.own('nightly'));
    },
  },
];

await run('budgets', async (t) => {
  await seed(t);
  for (const lang of list('LANGS', ['en', 'ar']))
    for (const row of TASKS.filter((x) => list('TASKS', [x.person]).includes(x.person)))
      await walk(t, { ...row, lang, by: 'pointer' }, row.script);
});
