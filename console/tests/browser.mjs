// SPDX-License-Identifier: Apache-2.0
// browser.mjs - every page of the console in a real Chromium on a real platform, in both languages, light and dark.
//
//   FALAJ_BIN=build/asan/bin node tests/browser.mjs [SHOTS]
//
// For each page: no breach of WCAG 2.2 AA that axe finds, none of the content security policy, no error on the console, no missing key,
// no request to another origin, nothing wider than the window at 1280 and at 390 pixels, and on Arabic pages no run of English words
// outside what is marked as code or as somebody's own text. Screenshots go to SHOTS. 77: not possible here, with the reason.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const here = import.meta.dirname;
const bin = resolve(process.env.FALAJ_BIN ?? resolve(here, '../../build/asan/bin'));
const browserPath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const shots = resolve(process.argv[2] || resolve(here, '../../build/console-shots'));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const skip = (why) => {
  console.log(`skipped: ${why}`);
  process.exit(77);
};
for (const name of ['falaj', 'falaj-api', 'falaj-worker'])
  if (!existsSync(join(bin, name))) skip(`${bin}/${name} is not built`);
if (!existsSync(browserPath)) skip(`${browserPath} is not installed`);
if (!existsSync(resolve(here, '../dist/index.html'))) skip('console/dist is not built (npm run build)');
mkdirSync(shots, { recursive: true });

const LIMITS_OFF = Object.fromEntries(
  ['TENANT_PER_MINUTE', 'PRINCIPAL_PER_MINUTE', 'ADDRESS_PER_MINUTE', 'ENROL_PER_MINUTE'].map((n) => [
    `FALAJ_RATE_${n}`,
    '0',
  ]),
);
const dev = spawn(
  join(bin, 'falaj'),
  ['dev', '--ephemeral', '--port', '0', '--json-ready', '--console', resolve(here, '../dist')],
  {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, FALAJ_BIN: bin, ...LIMITS_OFF, FALAJ_AUTH_ATTEMPTS_PER_MINUTE: '0' },
  },
);
const gone = new Promise((done) => dev.once('exit', done));
const profile = mkdtempSync(join(tmpdir(), 'falaj-console-'));
let context;
const faults = [];
const fault = (where, what) => {
  faults.push(`${where}: ${what}`);
  console.log(`FAULT ${where}: ${what}`);
};

async function call(ready, token, method, path, body, type = 'application/json') {
  const r = await fetch(new URL(path, ready.api_url), {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'idempotency-key': crypto.randomUUID(),
      ...(body === undefined ? {} : { 'content-type': type }),
    },
    body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
  });
  const json = await r.json().catch(() => ({}));
  if (!r.ok) throw new Error(`${method} ${path}: ${r.status} ${JSON.stringify(json)}`);
  return json;
}
async function until(what, f, ms = 60_000) {
  for (const end = Date.now() + ms; Date.now() < end;) {
    const v = await f();
    if (v) return v;
    await new Promise((d) => setTimeout(d, 100));
  }
  throw new Error(`not within ${ms} ms: ${what}`);
}

/** A tenant with an administrator who has a password, data, a finished job, a model that is served, and a job named to do harm. */
async function furnish(ready) {
  const admin = ready.admin_token;
  await call(ready, admin, 'POST', '/v1/zones', { code: ready.zone, name: 'Dubai 1', country: 'AE' }).catch(
    () => undefined,
  );
  const tenant = await call(ready, admin, 'POST', '/v1/tenants', {
    name: 'palm',
    display_name: 'Palm Bank',
    home_zone: ready.zone,
  });
  const t = (method, path, body, type) => call(ready, tenant.admin_token, method, path, body, type);
  const invited = await t('POST', '/v1/invitations', { name: 'Mariam', roles: ['tenant-admin'] });
  await fetch(new URL('/v1/auth/invitations/accept', ready.api_url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() },
    body: JSON.stringify({ token: invited.token, password: PASSWORD }),
  });
  const set = await t('POST', '/v1/datasets', {
    name: 'digits',
    label_column: 'label',
    classes: 10,
    description: 'Handwritten digits',
  });
  await t(
    'POST',
    `/v1/datasets/${set.dataset_id}/versions`,
    readFileSync(resolve(here, '../../datasets/digits/digits.csv'), 'utf8'),
    'text/csv',
  );
  await until('a worker', async () =>
    (await call(ready, admin, 'GET', '/v1/nodes')).data.some((n) => n.state === 'READY'),
  );
  const job = await t('POST', '/v1/jobs', {
    name: 'digits',
    kind: 'train',
    spec: { dataset_id: set.dataset_id, hidden: [16], epochs: 8, seed: 1 },
  });
  await t('POST', '/v1/jobs', {
    name: '<img src=x onerror=alert(1)> \u0645\u0647\u0645\u0629',
    kind: 'train',
    spec: { dataset_id: set.dataset_id, hidden: [8], epochs: 2, seed: 2 },
  });
  await until('the job', async () => (await t('GET', `/v1/jobs/${job.job_id}`)).state === 'COMPLETED');
  const model = await t('POST', '/v1/models', { name: 'digits', job_id: job.job_id });
  const served = await t('POST', '/v1/deployments', { name: 'digits', model_id: model.model_id });
  await until('the deployment', async () => (await t('GET', `/v1/deployments/${served.deployment_id}`)).ready);
  await t('POST', '/v1/api-tokens', { name: 'nightly', expires_in_days: 30 });
  return {
    job: job.job_id,
    set: set.dataset_id,
    model: model.model_id,
    served: served.deployment_id,
    zone: ready.zone,
  };
}
const PASSWORD = 'a heron by the water wheel';

/** Runs of three English words on an Arabic page, but for what is marked as not to be translated or as another language. */
const englishRuns = () => {
  const out = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const el = walk.currentNode.parentElement;
    if (!el || el.closest('[translate=no],[lang=en],bdi,script,style,input,textarea,pre,option[lang]')) continue;
    const hit = /[A-Za-z]{2,}(\s+[A-Za-z]{2,}){1,}/.exec(walk.currentNode.textContent ?? '');
    if (hit && el.checkVisibility()) out.push(hit[0]);
  }
  return out;
};

async function look(page, where, wait) {
  await page.waitForSelector(wait, { timeout: 20_000 });
  await page.waitForFunction(
    () => document.querySelector('[role=status].waiting,.pf-v6-c-skeleton') === null,
    undefined,
    { timeout: 15_000 },
  );
  await page.evaluate(() => document.fonts.ready);
}
async function wide(page, where) {
  const by = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  const main = await page.evaluate(() => {
    const m = document.querySelector('.pf-v6-c-page__main');
    return m ? m.scrollWidth - m.clientWidth : 0;
  });
  if (by > 0 || main > 0) fault(where, `${Math.max(by, main)} px wider than the window`);
}
/** Dark differs from light in its colours only, so only they are judged again. */
async function check(page, where, lang, theme = 'light') {
  await page.evaluate(axe);
  const rules =
    theme === 'light'
      ? { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }
      : { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };
  const found = await page.evaluate(
    (runOnly) => globalThis.axe.run(document, { runOnly, resultTypes: ['violations'] }),
    rules,
  );
  for (const v of found.violations)
    fault(
      where,
      `axe ${v.id}: ${v.nodes
        .slice(0, 2)
        .map((n) => `${n.target} ${n.html.slice(0, 160)}`)
        .join(' | ')}`,
    );
  if (lang === 'ar')
    for (const text of new Set(await page.evaluate(englishRuns))) fault(where, `English on an Arabic page: ${text}`);
}

try {
  const ready = await new Promise((done, fail) => {
    createInterface({ input: dev.stdout }).on('line', (l) => l.startsWith('{') && done(JSON.parse(l)));
    void gone.then((c) => fail(new Error(`falaj dev ended with ${c}`)));
  });
  const base = ready.api_url;
  if (
    !(await (await fetch(new URL('/', ready.api_url), { headers: { accept: 'text/html' } })).text()).includes(
      'id="root"',
    )
  )
    throw new Error('the console is not served at /');
  const ids = await furnish(ready);
  context = await chromium.launchPersistentContext(profile, {
    executablePath: browserPath,
    headless: true,
    viewport: { width: 1280, height: 800 },
    timezoneId: 'Asia/Dubai',
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  const page = context.pages()[0] ?? (await context.newPage());
  await page.emulateMedia({ reducedMotion: 'reduce' });
  let where = 'start';
  page.on('console', (m) => {
    if (
      m.type() === 'error' &&
      !(expected && /status of 40[14]/.test(m.text())) &&
      !m.location().url.endsWith('/v1/audit/head')
    )
      fault(where, `console: ${m.text()} ${m.location().url}`);
  });
  page.on('pageerror', (e) => fault(where, `error: ${e.message}`));
  page.on('request', (r) => {
    if (!r.url().startsWith(base) && !/^(data|blob):/.test(r.url())) fault(where, `request to ${r.url()}`);
  });
  let expected = true;
  await page.addInitScript(() =>
    document.addEventListener('securitypolicyviolation', (e) =>
      console.error(`CSP ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`),
    ),
  );
  const prefs = (lang, theme) =>
    page.evaluate((p) => localStorage.setItem('falaj.prefs', JSON.stringify(p)), { lang, theme });

  const inside = [
    ['overview', '/'],
    ['jobs', '/jobs'],
    ['submit', '/jobs/new'],
    ['job', `/jobs/${ids.job}`],
    ['job-metrics', `/jobs/${ids.job}?tab=metrics`],
    ['job-events', `/jobs/${ids.job}?tab=events`],
    ['job-attempts', `/jobs/${ids.job}?tab=attempts`],
    ['job-config', `/jobs/${ids.job}?tab=config`],
    ['datasets', '/datasets'],
    ['dataset', `/datasets/${ids.set}`],
    ['models', '/models'],
    ['model', `/models/${ids.model}`],
    ['deployments', '/deployments'],
    ['deployment', `/deployments/${ids.served}`],
    ['workers', '/workers'],
    ['zones', '/zones'],
    ['keys', '/keys'],
    ['key', `/keys/${ids.zone}`],
    ['audit', '/audit'],
    ['approvals', '/approvals'],
    ['members', '/members'],
    ['tokens', '/tokens'],
    ['quotas', '/quotas'],
    ['settings', '/settings'],
    ['absent', '/jobs/job_00000000000000000000000000000000'],
    ['nowhere', '/no/such/page'],
  ];
  const only = process.env.PAGES?.split(',');
  const looks = process.env.LOOKS?.split(',') ?? ['en-light', 'en-dark', 'ar-light', 'ar-dark'];
  let n = 0;
  await page.goto(`${base}/datasets?page_size=50`);
  for (const l of looks) {
    const [lang, theme] = l.split('-');
    where = `login ${l}`;
    await prefs(lang, theme);
    await page.reload();
    await look(page, where, '.login-card form');
    await check(page, where, lang, theme);
    await wide(page, where);
    await page.screenshot({ path: join(shots, `login-${l}.png`) });
    n++;
  }
  // A wrong password keeps what was typed; the right one leads to the place that was asked for.
  where = 'login';
  const type = async (password) => {
    await page.fill('#f-tenant', 'palm');
    await page.fill('#f-name', 'Mariam');
    await page.fill('#f-password', password);
    await page.press('#f-password', 'Enter');
  };
  await type('not the password at all');
  await page.waitForSelector('.login-card [class*="alert"]');
  if ((await page.inputValue('#f-name')) !== 'Mariam') fault(where, 'a refused login lost what was typed');
  await type(PASSWORD);
  await page.waitForSelector('#page-title');
  if (!page.url().endsWith('/datasets?page_size=50')) fault(where, `led to ${page.url()}`);
  await context.storageState();
  for (const l of looks) {
    const [lang, theme] = l.split('-');
    await prefs(lang, theme);
    for (const [name, path] of inside) {
      if (only && !only.includes(name)) continue;
      where = `${name} ${l}`;
      expected = name === 'absent';
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(base + path, { waitUntil: 'load' });
      await look(page, where, name === 'nowhere' ? '.pf-v6-c-empty-state' : '#page-title');
      if (name === 'job-metrics') await page.waitForSelector('.plot canvas');
      if (name === 'absent') await page.waitForSelector('.pf-v6-c-empty-state');
      await check(page, where, lang, theme);
      await wide(page, where);
      await page.screenshot({ path: join(shots, `${name}-${l}.png`) });
      n++;
      if (theme !== 'light') continue;
      await page.setViewportSize({ width: 390, height: 800 });
      await page.waitForSelector('.pf-v6-c-page__sidebar.pf-m-expanded', { state: 'detached' });
      await page.waitForTimeout(100);
      await wide(page, `${where} 390`);
      await page.screenshot({ path: join(shots, `${name}-${l}-390.png`) });
    }
  }
  if (!only) {
    // The session ends elsewhere while a form is half filled: the login comes over it, and what was typed is sent.
    where = 'session over';
    expected = true;
    await prefs('en', 'light');
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${base}/datasets`);
    await page.click('.page-head button');
    await page.fill('#f-name', 'kept-over-login');
    await page.fill('#f-classes', '3');
    await context.clearCookies();
    await page.click('[role=dialog] button[type=submit]');
    await page.waitForSelector('#f-tenant');
    await page.screenshot({ path: join(shots, 'session-over.png') });
    await page.locator('[role=dialog]').last().locator('#f-password').fill(PASSWORD);
    await page.locator('[role=dialog]').last().locator('#f-password').press('Enter');
    await page.waitForURL(/\/datasets\/dst_/, { timeout: 15_000 });
    await page
      .waitForFunction(
        () => document.getElementById('page-title')?.textContent?.includes('kept-over-login'),
        undefined,
        { timeout: 10_000 },
      )
      .catch(() => fault(where, 'what was typed was not sent after the login'));
    // The playground answers; the drawer has the calls; keys lead on.
    where = 'deployment';
    await page.goto(`${base}/deployments/${ids.served}`);
    await page.click('.split button[type=submit]');
    await page.waitForSelector('.split .json', { timeout: 15_000 });
    await page.keyboard.press('Escape');
    await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
    await page.keyboard.press('g');
    await page.keyboard.press('j');
    await page.waitForURL(/\/jobs$/);
    await page.keyboard.press('?');
    await page.waitForSelector('[role=dialog] kbd');
    await check(page, 'keys', 'en');
    await page.keyboard.press('Escape');
    await page.click('[aria-expanded][aria-label*="API"]');
    await page.waitForSelector('.calls');
    await check(page, 'drawer', 'en');
    await page.screenshot({ path: join(shots, 'drawer.png') });
  }
  console.log(`${n} pages looked at, ${faults.length} faults`);
} catch (e) {
  fault('run', e instanceof Error ? e.stack : String(e));
  const p = context?.pages()[0];
  if (p) await p.screenshot({ path: join(shots, 'last.png') }).catch(() => undefined);
} finally {
  await context?.close();
  dev.kill('SIGTERM');
  await gone;
  rmSync(profile, { recursive: true, force: true });
}
process.exit(faults.length > 0 ? 1 : 0);
