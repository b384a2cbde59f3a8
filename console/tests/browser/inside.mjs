// SPDX-License-Identifier: Apache-2.0
// inside.mjs - a terminal in a running program, in English and in Arabic, by keyboard: what is typed comes back, a size is
// followed, colours are drawn under the console's policy, a flood stays drawable, the focus gets out, and each end is said in
// words. And who gets none: a viewer, a page of another origin, a ticket that was used, of another job, or is none.
//
//   FALAJ_BIN=build/asan/bin node tests/browser/inside.mjs      # LANGS=ar
import { createServer } from 'node:http';
import { join } from 'node:path';
import { accessible, arabic, drawn, EVERY_TAG, fits, settled } from './checks.mjs';
import { PASSWORD, run, setPrefs, until } from './platform.mjs';
import { list, word } from './steps.mjs';

/** For a machine that is ten times slower. */
const PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 300_000);
const PROGRAM = 'import time\ntime.sleep(3600)\n';
const SPEC = { command: ['python3', '/falaj/code/script'], script: PROGRAM };

async function people(t) {
  await t.platform('POST', '/v1/zones', { code: t.ready.zone, name: 'Dubai 1', country: 'AE' }).catch(() => undefined);
  const made = await t.platform('POST', '/v1/tenants', { name: 'palm', home_zone: t.ready.zone });
  t.tenant = (...rest) => t.call(made.admin_token, ...rest);
  t.token = made.admin_token;
  for (const [key, name, role] of [
    ['engineer', 'Omar', 'ml-engineer'],
    ['viewer', 'Saif', 'viewer'],
  ]) {
    const { token } = await t.tenant('POST', '/v1/invitations', { name, roles: [role] });
    const accepted = { token, password: PASSWORD };
    const { user_id: user } = await t.call('', 'POST', '/v1/auth/invitations/accept', accepted);
    t.people[key] = { tenant: 'palm', name, password: PASSWORD };
    t.ids[key] = user;
  }
}
async function program(t, spec = SPEC) {
  const { job_id: id } = await t.tenant('POST', '/v1/jobs', { name: 'program', kind: 'run', spec });
  await until('it runs', async () => (await t.tenant('GET', `/v1/jobs/${id}`)).state === 'RUNNING', PATIENCE_MS);
  return id;
}

const button = (page, key) => page.getByRole('button', { name: word(page.lang, key), exact: true });
const shows = (page, text) =>
  page.waitForFunction((want) => document.querySelector('.terminal .xterm-rows')?.textContent.includes(want), text, {
    timeout: PATIENCE_MS,
  });
/** A command whose output is not its own text. */
async function says(page, command, text) {
  await page.keyboard.type(`${command}\n`);
  await shows(page, text);
}
async function open(page) {
  await button(page, 'inside.open').click();
  await page.waitForSelector('.terminal[data-state=open]', { timeout: PATIENCE_MS });
  await page.waitForFunction(() => document.activeElement?.matches('.terminal textarea'));
}
async function ended(t, page, key) {
  await page.waitForSelector('.terminal[data-state=over]', { timeout: PATIENCE_MS });
  const text = await page.locator('.shell .pf-v6-c-alert').innerText();
  const want = word(page.lang, key).replace(/[\s.]+$/, '');
  if (!text.includes(want)) t.fault(page.where, `the end is told as "${text}", not "${want}"`);
}

/** All of a terminal's life in one language. */
async function terminal(t, page) {
  await open(page);
  await says(page, 'echo a$((40+2))b', 'a42b');
  await says(page, `printf '\\033[38;2;250;120;10mwarm\\033[0m\\n' | tr w W`, 'Warm');
  const colour = await page.evaluate(
    () =>
      [...document.querySelectorAll('.terminal .xterm-rows span')].find((e) => e.textContent.includes('Warm'))?.style
        .color,
  );
  if (!/rgb|#/.test(colour ?? '')) t.fault(page.where, `a colour of the program's is drawn as ${colour}`);
  const dir = await page.evaluate(() => getComputedStyle(document.querySelector('.terminal .xterm-rows')).direction);
  if (dir !== 'ltr') t.fault(page.where, `the terminal runs ${dir}`);
  if ((await page.evaluate(() => document.documentElement.dir)) !== (page.lang === 'ar' ? 'rtl' : 'ltr'))
    t.fault(page.where, 'the page runs the wrong way');
  // A size is followed: fewer columns after the window became narrow.
  await page.setViewportSize({ width: 800, height: 800 });
  await drawn(page);
  await says(page, 'test $(stty size | cut -d" " -f2) -lt 100 && echo nar""row', 'narrow');
  await page.setViewportSize({ width: 1280, height: 800 });
  // What is pasted comes as it is.
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.setData('text/plain', 'echo pas""ted-\u0645\u0627\u0621');
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }));
  });
  await page.keyboard.press('Enter');
  await shows(page, 'pasted-\u0645\u0627\u0621');
  // Far more than can be drawn at once, and then the shell answers as before.
  await says(page, 'yes falaj falaj falaj | head -c 2000000; echo do""ne', 'done');
  await says(page, 'clear; echo cle""ar', 'clear');
  await accessible(t, page, page.where, false, undefined, EVERY_TAG);
  if (page.lang === 'ar') await arabic(t, page, page.where);
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 800 });
    await drawn(page);
    await fits(t, page, `${page.where} ${width}`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.screenshot({ path: join(t.shots, `inside-${page.lang}.png`) });
  // Tab is the shell's; the key that is told leads out.
  await page.locator('.terminal textarea').focus();
  await page.keyboard.press('Tab');
  if (!(await page.evaluate(() => document.activeElement.matches('.terminal textarea'))))
    t.fault(page.where, 'Tab left the terminal');
  await page.keyboard.press('Control+Shift+Space');
  const at = await page.evaluate(() => document.activeElement.textContent);
  if (at !== word(page.lang, 'inside.close')) t.fault(page.where, `the key leads to "${at}"`);
  await page.locator('.terminal textarea').focus();
  await page.keyboard.press('Control+C');
  await page.keyboard.type('exit 7\n');
  await ended(t, page, 'inside.end_ended');
  if (!(await page.locator('.shell .pf-v6-c-alert').innerText()).includes('7') && page.lang === 'en')
    t.fault(page.where, 'the status is not told');
  await button(page, 'inside.another').click();
  await page.waitForSelector('.terminal[data-state=open]', { timeout: PATIENCE_MS });
  await says(page, 'echo ag""ain', 'again');
  await t.tenant('PUT', '/v1/inside-policy', { allowed: false });
  await ended(t, page, 'inside.end_closed');
  await button(page, 'inside.close').click();
  await page.reload();
  await settled(page);
  await page.getByText(word(page.lang, 'inside.closed')).waitFor();
  await t.tenant('PUT', '/v1/inside-policy', { allowed: true });
}

/** A stream as a page asks for it; resolves to whether it was opened. */
const tries = (page, path, protocols) =>
  page.evaluate(
    ([at, offers]) =>
      new Promise((done) => {
        const s = new WebSocket(new URL(at, location.href.replace(/^http/, 'ws')), offers);
        s.onopen = () => {
          done(true);
          setTimeout(() => s.close(), 0);
        };
        s.onclose = () => done(false);
      }),
    [path, protocols],
  );
/** A session that is asked for as the console does; nobody has come for it yet. */
const asked = (page, job, csrf) =>
  page.evaluate(
    async ([id, token]) => {
      const headers = {
        'content-type': 'application/json',
        'idempotency-key': crypto.randomUUID(),
        'x-csrf-token': token,
      };
      const r = await fetch(`/v1/jobs/${id}/inside`, { method: 'POST', headers, body: '{"kind":"shell"}' });
      return { status: r.status, ...(await r.json()) };
    },
    [job, csrf],
  );
const csrfOf = (page) => page.evaluate(async () => (await (await fetch('/v1/auth/session')).json()).csrf_token);

async function attacks(t, page, job, other) {
  page.where = 'attacks';
  page.expected = [400, 401, 403, 404, 409];
  let made = 0;
  const must = (is, want, what) => {
    made += 1;
    if (is !== want) t.fault(page.where, what);
  };
  const csrf = await csrfOf(page);
  const bare = await asked(page, job, 'forged');
  must(bare.status, 403, 'a session was asked for without the CSRF token');
  const one = await asked(page, job, csrf);
  const two = await asked(page, other, csrf);
  must(one.status, 201, `no session: ${JSON.stringify(one)}`);
  const path = `/v1/jobs/${job}/inside/${one.session_id}`;
  const offer = (ticket) => ['falaj.inside', `ticket.${ticket}`];
  must(await tries(page, path, []), false, 'a stream opened without a ticket');
  must(await tries(page, path, ['falaj.inside']), false, 'a stream opened with the protocol alone');
  must(await tries(page, path, offer('0'.repeat(64))), false, 'a stream opened with a guessed ticket');
  must(await tries(page, path, offer(two.ticket)), false, "a stream opened with another job's ticket");
  must(
    await tries(page, path.replace(job, other), offer(one.ticket)),
    false,
    "a stream opened by another job's address",
  );
  must(
    await tries(page, `${path}?ticket=${one.ticket}`, ['falaj.inside']),
    false,
    'a ticket in an address opened a stream',
  );
  // A page of another origin of the same site: the browser sends it the cookie, and it even knows the ticket.
  const server = createServer((_q, r) => r.setHeader('content-type', 'text/html').end('<title>elsewhere</title>'));
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const elsewhere = `http://127.0.0.1:${server.address().port}`;
  const foreign = await t.beside(page);
  foreign.where = 'another origin';
  foreign.also = [elsewhere];
  foreign.expected = [401, 403, 404];
  await foreign.goto(`${elsewhere}/`);
  must(await tries(foreign, t.base + path, offer(one.ticket)), false, 'a page of another origin opened a stream');
  await foreign.close();
  server.close();
  must(await tries(page, path, offer(one.ticket)), true, 'the own ticket did not open the stream after all this');
  must(await tries(page, path, offer(one.ticket)), false, 'a ticket opened a second stream');
  // Another person of the same organisation, with the address and the ticket.
  const viewer = await t.open('viewer');
  viewer.where = 'viewer';
  viewer.expected = [403, 404];
  must(
    await tries(viewer, `/v1/jobs/${other}/inside/${two.session_id}`, offer(two.ticket)),
    false,
    "another's ticket opened",
  );
  await viewer.goto(`${t.base}/jobs/${job}`);
  await settled(viewer);
  must(await viewer.getByRole('tab', { name: word('en', 'job.inside') }).count(), 0, 'a viewer is shown the terminal');
  await viewer.context().close();
  return made;
}

const ASKS =
  'import sys\nfor line in sys.stdin:\n  print("got", line.strip(), flush=True)\nprint("that is all", flush=True)\n';
/** Lines go to a program that asked for them; to leave ends nothing, and the end of its input is said by itself. */
async function types(t, page, job) {
  const log = async (text) =>
    until(
      `the log says ${text}`,
      async () => (await t.tenant('GET', `/v1/jobs/${job}/logs`)).data.some((l) => l.text.includes(text)),
      PATIENCE_MS,
    );
  const line = page.locator('#typing-line');
  await page.goto(`${t.base}/jobs/${job}?tab=inside`);
  await settled(page);
  await button(page, 'inside.typeOpen').click();
  await line.waitFor({ timeout: PATIENCE_MS });
  await page.waitForFunction(() => document.activeElement?.id === 'typing-line');
  await page.keyboard.type('\u0645\u0627\u0621 7\n');
  await page.getByText(word(page.lang, 'inside.sent', { n: '1' })).waitFor();
  await log('got \u0645\u0627\u0621 7');
  await accessible(t, page, page.where, false, undefined, EVERY_TAG);
  await fits(t, page, page.where);
  await button(page, 'inside.leave').click();
  await page.getByText(word(page.lang, 'inside.end_person_left').replace(/[.]$/, '')).waitFor();
  // The session that was left ends a moment later; until then whoever asks is told that somebody types already.
  page.expected = [409];
  const isOpen = async () => {
    if (await line.isVisible()) return true;
    await button(page, 'inside.typeOpen')
      .click({ timeout: 1000 })
      .catch(() => undefined);
    return false;
  };
  await until('typing once more', isOpen, PATIENCE_MS);
  page.expected = [404];
  await page.keyboard.type('again\n');
  await log('got again');
  await button(page, 'inside.noMore').click();
  await log('that is all');
}

/** Whose account is disabled is out, and is told why. */
async function revoked(t, page, job) {
  page.where = 'revoked';
  page.expected = [401, 403];
  await page.goto(`${t.base}/jobs/${job}?tab=inside`);
  await settled(page);
  await open(page);
  await says(page, 'echo st""ill', 'still');
  const headers = { authorization: `Bearer ${t.token}`, 'content-type': 'application/json', 'if-match': '*' };
  const init = { method: 'PATCH', headers, body: '{"state":"DISABLED"}' };
  const disabled = await fetch(`${t.base}/v1/users/${t.ids.engineer}`, init);
  if (!disabled.ok) t.fault(page.where, `the account is not disabled: ${disabled.status}`);
  await ended(t, page, 'inside.end_not_allowed');
}

await run(
  'inside',
  async (t) => {
    await people(t);
    const [job, other] = [await program(t), await program(t)];
    const page = await t.open('engineer');
    for (const lang of list('LANGS', ['en', 'ar'])) {
      page.lang = lang;
      page.where = `terminal ${lang}`;
      await page.goto(`${t.base}/falaj.svg`);
      await setPrefs(page, { lang, theme: 'light' });
      await page.goto(`${t.base}/jobs/${job}?tab=inside`);
      await settled(page);
      await terminal(t, page);
      page.where = `typing ${lang}`;
      await types(t, page, await program(t, { ...SPEC, script: ASKS, takes_stdin: true }));
    }
    page.lang = 'en';
    await setPrefs(page, { lang: 'en', theme: 'light' });
    const made = await attacks(t, page, job, other);
    await revoked(t, page, job);
    console.log(`inside: ${made} checks of who gets no stream`);
  },
  { furnished: false, env: { FALAJ_WORKER_PROGRAMS: 'host' } },
);
