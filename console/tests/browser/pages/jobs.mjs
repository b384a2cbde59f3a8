// SPDX-License-Identifier: Apache-2.0
// jobs.mjs - the list of jobs, one job and its parts.
import { sql, uuid } from '../db.mjs';
import { until } from '../platform.mjs';
import { word } from '../steps.mjs';

/** A job whose data has one row, of which none is left to learn from: it fails, and its log says why. */
export async function seed(t) {
  const set = await t.tenant('POST', '/v1/datasets', { name: 'crooked', label_column: 'label', classes: 2 });
  await t.tenant('POST', `/v1/datasets/${set.dataset_id}/versions`, 'a,label\n1,0\n', 'text/csv');
  const bad = await t.tenant('POST', '/v1/jobs', {
    name: 'crooked',
    kind: 'train',
    max_attempts: 1,
    spec: { dataset_id: set.dataset_id, epochs: 2 },
  });
  await until('the failed job', async () =>
    ['FAILED', 'COMPLETED'].includes((await t.tenant('GET', `/v1/jobs/${bad.job_id}`)).state),
  );
  t.ids.failed = bad.job_id;
  // The model that is served holds a slot for good, so who asks for all of them waits.
  const slots = Math.max(...(await t.platform('GET', '/v1/nodes')).data.map((n) => n.slots));
  const wide = { name: 'wants the whole machine', kind: 'noop', slots, spec: {} };
  t.ids.waiting = (await t.tenant('POST', '/v1/jobs', wide)).job_id;
  t.ids.never = (await t.tenant('POST', '/v1/jobs', { name: 'poolless', kind: 'noop', pool: 'h100', spec: {} })).job_id;
  // What an idle rule writes on a running job, and the engine of a model that was stored with it.
  const moment = new Date(Date.now() + 1_800_000).toISOString();
  const idleWords = `What it holds was not used for 30 minutes: it is put aside at ${moment} unless it is used`;
  const noted = `UPDATE job SET reason = 'Idle', message = '${idleWords}', engine = 'onnxruntime'`;
  const served = `tenant_id = '${uuid(t.ids.tenant)}' AND state = 'RUNNING'`;
  const idle = sql(t, `${noted} WHERE ${served} RETURNING job_id`).split('\n')[0];
  if (!idle) throw new Error('no job runs that could be idle');
  t.ids.idle = `job_${idle.replaceAll('-', '')}`;
  const members = {
    name: 'two members',
    kind: 'run',
    nodes: { max: 2 },
    pool: 'h100',
    spec: { command: ['/bin/true'] },
  };
  t.ids.members = (await t.tenant('POST', '/v1/jobs', members)).job_id;
  const array = { array: '0-99%3', job: { name: 'sweep', kind: 'noop', pool: 'h100', spec: {}, force_queue: true } };
  t.ids.array = (await t.tenant('POST', '/v1/arrays', array)).array_id;
  await until('tasks', async () => (await t.tenant('GET', `/v1/arrays/${t.ids.array}`)).live === 3);
  t.ids.task = (await t.tenant('GET', `/v1/arrays/${t.ids.array}/tasks`)).data.find((k) => k.job_id).job_id;
  // What a real crash writes, in the colours of a terminal and over two executions.
  const said = [
    ['stdout', 1, 'epoch 1: loss 1.92, error 0.31'],
    ['stderr', 1, '\\x1b[33mUserWarning: the learning rate is high\\x1b[0m'],
    ...Array.from({ length: 60 }, (_x, i) => ['stdout', 1, `step ${i}: loss ${(2 - i / 40).toFixed(3)}  بيانات`]),
    ['stderr', 1, 'Traceback (most recent call last):'],
    ['stderr', 1, '  File "train.py", line 88, in step'],
    ['stderr', 1, `\\x1b[1;31mRuntimeError: CUDA out of memory. Tried to allocate ${'2.00 GiB '.repeat(30)}\\x1b[0m`],
    ['system', 1, 'the attempt ended with exit code 1'],
  ];
  const job = `'${uuid(t.ids.tenant)}', '${uuid(bad.job_id)}'`;
  const rows = said.map(([stream, fence, text]) => `(${job}, ${fence}, '${stream}', E'${text}')`);
  sql(t, `INSERT INTO job_log (tenant_id, job_id, fence, stream, text) VALUES ${rows.join(',')}`);
}
const part = (name, extra = {}) => ({
  name: `job-${name}`,
  path: (ids) => `/jobs/${ids.job}?tab=${name}`,
  as: 'engineer',
  ...extra,
});

const compared = (tab) => (ids) => `/experiments/compare?runs=${ids.job.slice(4)},${ids.second.slice(4)}&tab=${tab}`;

export default [
  { name: 'jobs', path: '/jobs', as: 'engineer' },
  { name: 'arrays', path: '/arrays', as: 'engineer', wait: 'tbody tr' },
  { name: 'array', path: (ids) => `/arrays/${ids.array}`, as: 'engineer', wait: 'tbody tr' },
  { name: 'clock', path: '/queue', as: 'engineer', wait: '.clock-steps polygon' },
  { name: 'clock-platform', path: '/queue/platform?hours=6', as: 'operator', wait: '.clock-steps polygon' },
  { name: 'job', path: (ids) => `/jobs/${ids.job}`, as: 'engineer', wait: '.timeline li' },
  {
    name: 'job-task',
    path: (ids) => `/jobs/${ids.task}`,
    as: 'engineer',
    act: async (page, t) => {
      const link = page.locator('.pairs a', { hasText: t.ids.array });
      await link.scrollIntoViewIfNeeded();
      const to = await link.getAttribute('href');
      if (to !== `/arrays/${t.ids.array}`) throw new Error(`the link of a task's array leads to ${to}`);
    },
  },
  {
    name: 'job-failed',
    path: (ids) => `/jobs/${ids.failed}`,
    as: 'engineer',
    wait: '.log-line[aria-current]',
    act: async (page) => {
      const lang = await page.evaluate(() => document.documentElement.lang);
      // Only the box of the log went to the line: what the job is called and what may be done stay in sight.
      const title = await page.locator('#page-title').boundingBox();
      if (!title || title.y < 0) throw new Error('opening a failed job has scrolled its name away');
      // How it ended is said in the reader's language; the log keeps its own.
      await page.getByText(word(lang, 'cause.fewRows').replace('{{v1}}', '1')).first().waitFor();
      await page.locator('.log').evaluate((box) => box.scrollTo(0, 0));
      await page.locator('.log-line[data-index="0"] .log-number', { hasText: /^1$/ }).waitFor();
      // The first error is selected already; who has scrolled away is taken back to it.
      await page.locator('.log').evaluate((box) => box.scrollTo(0, box.scrollHeight));
      await page.locator('.log-line[aria-current]').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: word(lang, 'log.firstError') }).click();
      await page
        .locator('.log-line[aria-current]', { hasText: 'error: the job failed: 1 row(s) are too few' })
        .waitFor();
    },
  },
  { name: 'job-waiting', path: (ids) => `/jobs/${ids.waiting}`, as: 'engineer', wait: '.timeline li' },
  {
    // It is not "next in the queue": its pool has no node.
    name: 'job-never',
    path: (ids) => `/jobs/${ids.never}`,
    as: 'engineer',
    wait: '.pf-v6-c-alert.pf-m-warning',
    act: async (page) => {
      const lang = await page.evaluate(() => document.documentElement.lang);
      const said = await page.locator('.pf-v6-c-alert.pf-m-warning').innerText();
      if (said.includes(word(lang, 'job.first'))) throw new Error(`a job without a pool is next in the queue: ${said}`);
    },
  },
  {
    // From the job's own page in two presses: its name is there already.
    name: 'job-register',
    path: (ids) => `/jobs/${ids.second}`,
    as: 'engineer',
    fresh: true,
    act: async (page) => {
      const lang = await page.evaluate(() => document.documentElement.lang);
      await page.getByRole('button', { name: word(lang, 'models.register') }).click();
      const name = page.getByRole('dialog').getByRole('textbox', { name: word(lang, 'col.name') });
      if ((await name.inputValue()) !== 'digits-wide') throw new Error(`the name is ${await name.inputValue()}`);
    },
  },
  {
    name: 'job-idle',
    path: (ids) => `/jobs/${ids.idle}`,
    as: 'engineer',
    wait: '.timeline li',
    act: async (page) => {
      const lang = await page.evaluate(() => document.documentElement.lang);
      await page.getByText(word(lang, 'job.idleTitle')).waitFor();
      await page.locator('.pairs', { hasText: 'onnxruntime' }).first().waitFor();
      // It is told once, and not as if it were put aside already.
      if (await page.getByText(word(lang, 'reason.Idle')).count()) throw new Error('the notice is told twice');
    },
  },
  {
    // Which member is chosen stands in the line for the terminal.
    name: 'job-members',
    path: (ids) => `/jobs/${ids.members}?tab=inside`,
    as: 'engineer',
    wait: '#inside-rank',
    act: async (page) => {
      await page.selectOption('#inside-rank', '1');
      await page.locator('input[value$=" 8888 --rank 1"]').waitFor();
      await page.locator('#inside-rank').scrollIntoViewIfNeeded();
    },
  },
  part('logs', { wait: '.log-line' }),
  part('metrics', { act: (page) => page.waitForSelector('.plot canvas') }),
  {
    name: 'job-metrics-smooth',
    path: (ids) => `/jobs/${ids.job}?log=1&smooth=0.6&tab=metrics&x=relative`,
    as: 'engineer',
    act: async (page) => {
      await page.waitForSelector('.plot canvas');
      await page.locator('.plot').first().focus();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowRight');
    },
  },
  {
    name: 'job-metrics-table',
    path: (ids) => `/jobs/${ids.job}?tab=metrics`,
    as: 'engineer',
    act: async (page) => {
      await page.locator('.chart-card button[aria-pressed=false]').first().click();
      await page.waitForSelector('.chart-table');
    },
  },
  part('system'),
  part('events'),
  part('attempts'),
  { name: 'job-config', path: (ids) => `/jobs/${ids.job}?tab=config&vs=${ids.second}`, as: 'engineer', wait: 'mark' },
  part('lineage', { wait: '.lineage' }),
  part('audit', { as: 'admin' }),
  { name: 'experiments', path: '/experiments', as: 'engineer', wait: 'td bdi' },
  { name: 'experiments-group', path: '/experiments?group=seed&sort=m:holdout_loss', as: 'engineer', wait: '.group' },
  { name: 'compare', path: compared('results'), as: 'engineer', wait: '.best' },
  { name: 'compare-settings', path: compared('settings'), as: 'engineer', wait: 'mark' },
  { name: 'compare-curves', path: compared('curves'), as: 'engineer', wait: '.plot canvas' },
  { name: 'compare-pictures', path: compared('pictures'), as: 'engineer', wait: '.picture canvas' },
];
