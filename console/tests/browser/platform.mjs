// SPDX-License-Identifier: Apache-2.0
// platform.mjs - what every browser test stands on: a real platform of its own, Chromium, people who are signed in, and a list of faults.
//
//   await run('pages', async (t) => { ... t.fault(where, what) ... })
//
// FALAJ_BIN: the folder of the binaries (build/asan/bin). SHOTS, the first argument: where screenshots go (build/console-shots).
// Ends with 0, 1 (faults), or 77: not possible here, with the reason. The platform and the browser are ended whatever happens.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { furnish, PASSWORD } from './seed.mjs';

const here = import.meta.dirname;
export const root = resolve(here, '../../..');
const bin = resolve(process.env.FALAJ_BIN ?? join(root, 'build/asan/bin'));
const browserPath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const dist = join(root, 'console/dist');

export async function until(what, f, ms = 60_000) {
  for (const end = Date.now() + ms; Date.now() < end;) {
    const v = await f();
    if (v) return v;
    await new Promise((d) => setTimeout(d, 100));
  }
  throw new Error(`not within ${ms} ms: ${what}`);
}

function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(77);
}

/** One call of the API; what is refused is an error with the whole answer. */
async function call(base, token, method, path, body, type = 'application/json') {
  const r = await fetch(new URL(path, base), {
    method,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      'idempotency-key': crypto.randomUUID(),
      ...(body === undefined ? {} : { 'content-type': type }),
    },
    body:
      body === undefined ? undefined : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });
  const json = await r.json().catch(() => ({}));
  if (!r.ok) throw new Error(`${method} ${path}: ${r.status} ${JSON.stringify(json)}`);
  return json;
}

async function startPlatform(more) {
  const off = ['TENANT_PER_MINUTE', 'PRINCIPAL_PER_MINUTE', 'ADDRESS_PER_MINUTE', 'ENROL_PER_MINUTE'];
  const env = { ...process.env, FALAJ_BIN: bin, FALAJ_AUTH_ATTEMPTS_PER_MINUTE: '0', ...more };
  for (const name of off) env[`FALAJ_RATE_${name}`] = '0';
  const args = ['dev', '--ephemeral', '--port', '0', '--json-ready', '--console', dist];
  const dev = spawn(join(bin, 'falaj'), args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let said = ''; // its last words: why it ended is nowhere else, since its folder goes with it
  dev.stderr.on('data', (d) => (said = (said + d).slice(-4000)));
  const gone = new Promise((done) => dev.once('exit', done));
  const ready = await new Promise((done, fail) => {
    createInterface({ input: dev.stdout }).on('line', (l) => l.startsWith('{') && done(JSON.parse(l)));
    void gone.then((c) => fail(new Error(`falaj dev ended with ${c}: ${said}`)));
  });
  const stop = async () => {
    dev.kill('SIGTERM');
    await gone;
  };
  return { ready, stop };
}

/** A page of a person who has just signed in, with everything watched that must never happen. */
async function pageOf(t, who, options = {}) {
  const context = await t.browser.newContext({
    viewport: { width: 1280, height: 800 },
    timezoneId: 'Asia/Dubai',
    reducedMotion: 'reduce',
    acceptDownloads: true,
    // Every window would keep the whole console for itself, and no test can hold up what a worker asks for: only its own test
    // allows it.
    serviceWorkers: 'block',
    ...options,
  });
  // A machine with much else to do takes more than the usual 30 s for a whole page; no test is judged by this time.
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  watch(t, page);
  if (who) {
    const person = t.people[who];
    if (!person) throw new Error(`there is no person ${who}`);
    await page.goto(`${t.base}/falaj.svg`);
    const status = await page.evaluate(async (body) => {
      const headers = { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() };
      return (await fetch('/v1/auth/login', { method: 'POST', headers, body: JSON.stringify(body) })).status;
    }, person);
    if (status !== 200) throw new Error(`${who} cannot sign in: ${status}`);
  }
  return page;
}

/** Another window of the same person: no second login, and what the browser has read it does not read again. */
async function windowBeside(t, page) {
  const other = await page.context().newPage();
  watch(t, other);
  return other;
}

/** expected: codes of answers that the test provokes; a browser writes each to its console as an error. also: other origins it may go to. */
function watch(t, page) {
  page.expected = [404]; // a browser asks for the icon of a bare picture
  page.where = 'start';
  page.on('console', (m) => {
    if (m.type() !== 'error' || (page.offline && m.text().includes('ERR_INTERNET_DISCONNECTED'))) return;
    const code = /(?:status of|Unexpected response code:) (\d+)/.exec(m.text())?.[1];
    if (code && page.expected.includes(Number(code))) return;
    // Asked for by the browser itself for the bare picture, and answered at a moment of its own.
    if (code === '404' && m.location().url === `${t.base}/favicon.ico`) return;
    t.fault(page.where, `console: ${m.text()} ${m.location().url}`);
  });
  page.on('pageerror', (e) => t.fault(page.where, `error: ${e.message}`));
  page.on('request', (r) => {
    if (![t.base, ...(page.also ?? [])].some((o) => r.url().startsWith(o)) && !/^(data|blob):/.test(r.url()))
      t.fault(page.where, `request to ${r.url()}`);
  });
  void page.addInitScript(() =>
    document.addEventListener('securitypolicyviolation', (e) =>
      console.error(`CSP ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`),
    ),
  );
}

export const setPrefs = (page, prefs) =>
  page.evaluate((p) => localStorage.setItem('falaj.prefs', JSON.stringify(p)), prefs);

/** furnished: with the tenant, its people, data, jobs and models of seed.mjs. env: settings of the platform, FALAJ_*. */
export async function run(name, main, { furnished = true, env = {} } = {}) {
  for (const b of ['falaj', 'falaj-api', 'falaj-worker'])
    if (!existsSync(join(bin, b))) skip(`${bin}/${b} is not built`);
  if (!existsSync(browserPath)) skip(`${browserPath} is not installed`);
  if (!existsSync(join(dist, 'index.html'))) skip('console/dist is not built (npm run build)');
  const shots = resolve(process.argv[2] || join(root, 'build/console-shots'));
  mkdirSync(shots, { recursive: true });
  const faults = [];
  const t = { name, shots, bin, root, people: {}, ids: {}, open: (who, options) => pageOf(t, who, options) };
  t.beside = (page) => windowBeside(t, page);
  t.fault = (where, what) => {
    faults.push(`${where}: ${what}`);
    console.log(`FAULT ${where}: ${what}`);
  };
  let platform;
  try {
    platform = await startPlatform(env);
    t.ready = platform.ready;
    t.base = platform.ready.api_url;
    t.call = (token, ...rest) => call(t.base, token, ...rest);
    t.platform = (...rest) => call(t.base, platform.ready.admin_token, ...rest);
    const login = platform.ready.admin_login;
    if (login) t.people.operator = login;
    if (furnished) await furnish(t);
    t.browser = await chromium.launch({
      executablePath: browserPath,
      headless: true,
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
    await main(t);
  } catch (e) {
    t.fault('run', e instanceof Error ? e.stack : String(e));
    const page = t.browser?.contexts().at(-1)?.pages()[0];
    if (page) await page.screenshot({ path: join(shots, `${name}-last.png`) }).catch(() => undefined);
  } finally {
    await t.browser?.close();
    await platform?.stop();
  }
  console.log(`${name}: ${faults.length} faults`);
  process.exit(faults.length > 0 ? 1 : 0);
}
export { PASSWORD };
