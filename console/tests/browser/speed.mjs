// SPDX-License-Identifier: Apache-2.0
// speed.mjs - what the console takes where there is much: a log of 100,000 lines, a chart of 50,000 points, a list of many jobs, a slow machine.
//
//   FALAJ_BIN=build/release/bin node tests/browser/speed.mjs     # JOBS=1000000 for the whole list; 50,000 without
//
// Every figure is printed with its bar; counts fail at the bar. Times on shared machines are noise: a time fails at three times its bar, and on a
// machine with more work than processors it is only printed.
import { spawnSync } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { settled } from './checks.mjs';
import { sql, uuid } from './db.mjs';
import { paintCost } from './paints.mjs';
import { run, setPrefs, until } from './platform.mjs';

const LINES = 100_000;
const POINTS = 50_000;
const JOBS = Number(process.env.JOBS ?? 50_000);
const RUNS = 2_000;
const SLACK = 3;
const SLOWER = 4;
/** Asked before the test makes work of its own. */
const busy = loadavg()[0] > availableParallelism();
const median = (all) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)];

function time(t, name, ms, bar) {
  console.log(`${ms <= bar ? 'within ' : 'OVER   '} ${name}: ${ms.toFixed(0)} ms, bar ${bar} ms`);
  if (!(ms <= bar * SLACK) && !busy)
    t.fault('speed', `${name}: ${ms.toFixed(0)} ms, more than ${SLACK} times ${bar} ms`);
}
function count(t, name, n, bar) {
  console.log(`${n <= bar ? 'within ' : 'OVER   '} ${name}: ${n}, bar ${bar}`);
  if (!(n <= bar)) t.fault('speed', `${name}: ${n}, more than ${bar}`);
}

function fill(t) {
  const key = `'${uuid(t.ids.tenant)}'::uuid, '${uuid(t.ids.second)}'::uuid`;
  sql(
    t,
    `DELETE FROM job_log WHERE job_id = '${uuid(t.ids.second)}';
     INSERT INTO job_log (tenant_id, job_id, fence, stream, text) SELECT ${key}, 1, 'stdout',
       CASE WHEN i % 9973 = 0 THEN 'ERROR lost a shard ' || i ELSE 'step ' || i || ': loss ' || 2.0 / i END
       FROM generate_series(1, ${LINES}) i;
     DELETE FROM job_metric WHERE job_id = '${uuid(t.ids.second)}';
     INSERT INTO job_metric (tenant_id, job_id, fence, step, values) SELECT ${key}, 1, i,
       jsonb_build_object('loss', 2 + sin(i / 500.0) + random() / 5) FROM generate_series(1, ${POINTS}) i;`,
  );
}

/** From the first line to the last, window by window: rows in the document, and tasks that held the page up. */
async function longLog(t, page) {
  page.where = 'log';
  await page.goto(`${t.base}/jobs/${t.ids.second}?tab=logs`);
  await page.waitForSelector('.log-line');
  await page.locator('.log-tools button.pf-m-small', { hasText: 'whole' }).click();
  await page.waitForFunction((n) => document.querySelector('.log-size').scrollHeight >= n * 20, LINES, {
    timeout: 120_000,
  });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const work = async () =>
    (await cdp.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value * 1000;
  const before = await work();
  const seen = await page.evaluate(async () => {
    const box = document.querySelector('.log');
    const frame = () => new Promise((done) => requestAnimationFrame(() => done()));
    const long = [];
    const watch = new PerformanceObserver((list) => long.push(...list.getEntries().map((e) => e.duration)));
    let rows = 0;
    let blank = 0;
    box.scrollTop = 0;
    for (let i = 0; i < 10; i++) await frame();
    watch.observe({ type: 'longtask' });
    const first = Number(box.querySelector('[data-index="0"]')?.dataset.id);
    for (let i = 0; i <= 400; i++) {
      box.scrollTop = (box.scrollHeight * i) / 400;
      await frame();
      await frame();
      const n = box.querySelectorAll('.log-line').length;
      rows = Math.max(rows, n);
      if (n === 0) blank++;
    }
    for (let i = 0; i < 10; i++) await frame();
    watch.disconnect();
    const last = Number([...box.querySelectorAll('.log-line')].at(-1)?.dataset.id);
    return { rows, blank, lines: last - first + 1, long: long.length, worst: Math.max(0, ...long) };
  });
  if (seen.lines !== LINES) t.fault('log', `from top to bottom are ${seen.lines} lines, not ${LINES}`);
  count(t, 'rows of a log of 100,000 lines in the document', seen.rows, 199);
  count(t, 'windows without a line', seen.blank, 0);
  const each = ((await work()) - before) / 401;
  console.log(
    `        the page's thread works ${each.toFixed(1)} ms for each of 401 windows, whatever else the machine does`,
  );
  console.log(`        tasks above 50 ms while it scrolls: ${seen.long}, the longest ${seen.worst.toFixed(0)} ms`);
  time(t, 'longest task while the log scrolls', seen.worst, 50);
}

async function bigChart(t, page) {
  page.where = 'chart';
  const all = [];
  for (let i = 0; i < 5; i++) {
    await page.goto(`${t.base}/jobs/${t.ids.second}?tab=metrics`);
    await page.waitForFunction(() => performance.getEntriesByName('falaj-chart', 'measure').length > 0);
    all.push(await page.evaluate(() => performance.getEntriesByName('falaj-chart', 'measure')[0].duration));
  }
  time(t, `a chart of ${POINTS} points drawn (median of ${all.length})`, median(all), 60);
}

async function slowMachine(t, page) {
  page.where = 'slow machine';
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  const paints = [];
  for (let i = 0; i < 5; i++) {
    await page.goto(`${t.base}/`);
    await settled(page);
    paints.push(
      await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity),
    );
  }
  time(t, 'first contentful paint, 4 times slower', median(paints), 1000);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 });
}

/** Each click and key by the time that the page's thread works until it is painted, times four; an empty click beside them. */
async function interactions(t, page) {
  page.where = 'interactions';
  const at = async (path, wait) => {
    await page.goto(t.base + path);
    await settled(page, wait);
  };
  const clicks = (what) => () => page.locator(what).first().click();
  const types = (what) => () => page.locator(what).first().press('a');
  const job = `/jobs/${t.ids.job}`;
  const rows = [
    ['an empty click', '/jobs', 'td a', clicks('#page-title')],
    ...['/jobs', '/experiments', '/datasets', '/deployments', '/queue'].map((to) => [
      `from the overview to ${to}`,
      '/',
      undefined,
      clicks(`nav a[href="${to}"]`),
    ]),
    ['from jobs to a job', '/jobs', 'td a', clicks(`a[href*="${t.ids.job}"]`)],
    ['from experiments to a job', '/experiments', 'td bdi', clicks(`a[href*="${t.ids.job}"]`)],
    ...[1, 2, 3, 4, 5, 6, 7].map((i) => [`tab ${i} of a job`, job, '[role=tab]', clicks(`[role=tab] >> nth=${i}`)]),
    ['a row chosen', '/jobs', 'td a', clicks('tbody input[type=checkbox]')],
    ['a state of experiments', '/experiments', 'td bdi', types('.runs-tools select')],
    ['a letter of a name of experiments', '/experiments', 'td bdi', types('.runs-tools input')],
    ['a letter of a field of a request', '/jobs/new', '#yaml', types('#f-name')],
    ['a letter of the text of a request', '/jobs/new', '#yaml', types('#yaml')],
    ['a dialog', '/datasets', undefined, clicks('main button.pf-m-primary')],
  ];
  for (const [name, path, wait, act] of rows) {
    const all = [];
    for (let i = 0; i < 3; i++) {
      await at(path, wait);
      all.push(await paintCost(page, act));
    }
    time(t, `${name}, until it is painted (thread, times ${SLOWER})`, median(all.map((r) => r.cpu)) * SLOWER, 200);
  }
}

async function manyJobs(t, page) {
  page.where = 'many jobs';
  const script = `import sys, json; sys.path.insert(0, '${join(t.root, 'tests/bench')}'); import million_jobs as m; m.fill(json.loads(sys.stdin.read()), '${t.ids.tenant}', ${JOBS})`;
  const done = spawnSync('python3', ['-c', script], { input: JSON.stringify(t.ready), encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`million_jobs.py: ${done.stderr}`);
  const all = [];
  let requests = 0;
  page.on('request', (r) => void (new URL(r.url()).pathname === '/v1/jobs' && requests++));
  for (let i = 0; i < 5; i++) {
    requests = 0;
    const began = performance.now();
    await page.goto(`${t.base}/jobs`, { waitUntil: 'commit' });
    await page.waitForSelector('tbody td a');
    all.push(performance.now() - began);
  }
  time(t, `a list of ${JOBS} jobs opened (median of ${all.length})`, median(all), 1000);
  count(t, 'requests for the list', requests, 1);
}

/** As many training runs as an engineer keeps: only those in sight are drawn, and the next are read when they come near. */
async function manyRuns(t, page) {
  page.where = 'experiments';
  sql(
    t,
    // All columns but those that the database works out itself.
    `DO $$ DECLARE c text; BEGIN
       SELECT string_agg(quote_ident(column_name), ', ') INTO c FROM information_schema.columns
         WHERE table_name = 'job' AND table_schema = current_schema() AND is_generated = 'NEVER';
       EXECUTE format('INSERT INTO job (%s) SELECT %s FROM (SELECT (jsonb_populate_record(j, jsonb_build_object(
         ''job_id'', gen_random_uuid(), ''name'', ''sweep '' || i))).* FROM job j, generate_series(1, ${RUNS}) i
         WHERE j.job_id = ''${uuid(t.ids.job)}'') r', c, c);
     END $$`,
  );
  const all = { experiments: [], jobs: [] };
  const thread = { experiments: [], jobs: [] };
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  for (let i = 0; i < 10; i++) {
    const of = i % 2 ? 'experiments' : 'jobs';
    const began = performance.now();
    await page.goto(`${t.base}/${of}`, { waitUntil: 'commit' });
    await page.waitForSelector('tbody td a');
    all[of].push(performance.now() - began);
    const told = (await cdp.send('Performance.getMetrics')).metrics;
    thread[of].push(told.find((m) => m.name === 'TaskDuration').value * 1000);
  }
  time(t, `the experiments of ${RUNS} runs opened (median of 5)`, median(all.experiments), 1000);
  const [theirs, ours] = [median(thread.jobs), median(thread.experiments)];
  const told = `${ours.toFixed(0)} ms beside ${theirs.toFixed(0)} ms of jobs, in turns`;
  console.log(`        thread until the first row: ${told}`);
  if (ours > 2 * theirs) t.fault('experiments', `${told}: more than twice`);
  const drawn = () => page.locator('.runs-scroll tbody tr:not(.runs-gap)').count();
  count(t, 'rows of runs in the document', await drawn(), 60);
  const loaded = () => page.locator('.runs-scroll table').getAttribute('aria-rowcount').then(Number);
  const before = await loaded();
  await page.locator('.runs-scroll').evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await until('the next page of runs', async () => (await loaded()) > before);
  count(t, 'rows of runs in the document after a page more', await drawn(), 60);
}

await run('speed', async (t) => {
  if (busy) console.log(`the machine is busy (load ${loadavg()[0].toFixed(1)}): times are printed and not judged`);
  fill(t);
  const page = await t.open('engineer');
  await page.goto(`${t.base}/falaj.svg`);
  await setPrefs(page, { lang: 'en', theme: 'light' });
  await longLog(t, page);
  await bigChart(t, page);
  await slowMachine(t, page);
  await interactions(t, page);
  await manyRuns(t, page);
  await manyJobs(t, page);
});
