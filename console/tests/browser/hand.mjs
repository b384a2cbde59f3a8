// SPDX-License-Identifier: Apache-2.0
// hand.mjs - a person's hand on the console: presses buttons by their words, fills dialogs and sends them, says what a refusal said, and asks
// the API what has become of it. By the pointer, in English unless `lang` is set to another.
//
//   const hand = await Hand.of(t, 'admin');
//   await acts(t, hand, [['rotate', async (h) => { await h.go('/keys/ae-dxb-1'); await h.press('keyring.rotate'); await h.submit(); }]]);
//
// Words come from the catalogue of its language. A dialog is filled by the words of its fields (put, pick, send) where they are what is tried, and by
// the names that the API has for them (submit) where it is long. An act that fails is one fault with a picture, and the acts after it still
// run. TRACE=1 prints how long each took.
import { join } from 'node:path';
import { settled } from './checks.mjs';
import { PASSWORD, setPrefs, until } from './platform.mjs';
import { Steps, word } from './steps.mjs';

const PATIENCE = 30_000;
const SOON = 8_000; // what ends anywhere is refused within 5 s
export const W = (key, values) => word('en', key, values);

/** Somebody more who can sign in: in a tenant by its administrator's call, on the platform by the operator's. */
export async function invite(t, key, call, tenant, name, role) {
  const invited = await call('POST', '/v1/invitations', { name, roles: [role] });
  await t.call('', 'POST', '/v1/auth/invitations/accept', { token: invited.token, password: PASSWORD });
  t.people[key] = { tenant, name, password: PASSWORD };
}

export class Hand extends Steps {
  /** who: a person of t.people, or nobody. */
  static async of(t, who) {
    const page = await t.open(who);
    if (!who) await page.goto(`${t.base}/falaj.svg`);
    await setPrefs(page, { lang: 'en', theme: 'light' });
    return new Hand(t, page, who ?? 'nobody');
  }
  constructor(t, page, who) {
    super(t, page, { person: who, lang: 'en', by: 'pointer' });
    Object.assign(this, { who, act: 'acts' });
    page.where = who;
    page.expected = [];
  }
  step(what) {
    super.step(what);
    this.page.where = `${this.who}: ${this.act}, ${what}`;
  }
  async go(path, wait, expected = []) {
    this.expect(...expected);
    await this.page.goto(this.t.base + path);
    await settled(this.page, wait);
  }
  /** Codes of answers that the next acts provoke, until the next page. */
  expect(...codes) {
    this.page.expected = codes;
  }
  get dialog() {
    return this.page.getByRole('dialog').last();
  }
  rows(...texts) {
    return texts.reduce((rows, hasText) => rows.filter({ hasText }), this.page.locator('tbody tr'));
  }
  row(...texts) {
    return this.rows(...texts).first();
  }
  async sees(text) {
    await this.page.getByText(text).first().waitFor({ timeout: PATIENCE });
  }
  async gone() {
    await this.page.getByRole('dialog').waitFor({ state: 'detached', timeout: 15_000 });
  }
  async press(key, inside = this.page) {
    await this.click('button', this.word(key), { inside });
  }
  /** The button's dialog, of the page or of one of its rows. */
  async opens(key, inside = this.page) {
    await this.press(key, inside);
    await this.dialog.waitFor();
  }
  // The open dialog, by the words of its fields
  async put(label, value) {
    await this.fill(this.word(label), value, { inside: this.dialog });
  }
  async pick(label, choice) {
    await this.choose(this.word(label), choice, { inside: this.dialog });
  }
  async send(label) {
    await this.press(label, this.dialog);
  }
  /** A field of it says what is wrong with it. */
  async refused(label) {
    const field = this.field(this.word(label), { inside: this.dialog });
    await this.page.waitForFunction((e) => e.getAttribute('aria-invalid') === 'true', await field.elementHandle(), {
      timeout: PATIENCE,
    });
    const help = await field.evaluate((e) => document.getElementById(e.getAttribute('aria-describedby'))?.textContent);
    if (!help) this.fault(`${label} is refused without a word`);
    return help ?? '';
  }
  /** Fills the open dialog by the names of its fields, sends it, and waits until it has closed; what it says instead is the error. */
  async submit(values = {}) {
    const form = this.dialog.locator('form');
    for (const [name, value] of Object.entries(values)) {
      const field = this.dialog.locator(`[name="${name}"]`);
      const type = await field.evaluate((e) => e.type, undefined, { timeout: PATIENCE });
      if (type === 'checkbox') await field.setChecked(value);
      else if (type === 'select-one') await field.selectOption(value);
      else await field.fill(value);
    }
    const said = form.locator('.pf-v6-c-alert.pf-m-danger, .pf-v6-c-helper-text__item.pf-m-error');
    await form.locator('button[type=submit]').click();
    await until(
      'the dialog to close',
      async () => {
        if ((await said.count()) > 0) throw new Error(`refused: ${(await said.allInnerTexts()).join(' | ')}`);
        return (await form.count()) === 0;
      },
      PATIENCE,
    );
  }
  /** An act that wants the name typed. */
  async confirm(key, name, { inside, reason } = {}) {
    await this.opens(key, inside);
    await this.submit({ name, ...(reason ? { reason } : {}) });
  }
  /** The secret that is shown this once. */
  async once(title) {
    const box = this.page.getByRole('textbox', { name: this.word(title) });
    const secret = await box.inputValue({ timeout: 15_000 });
    await this.press('confirm.kept');
    await this.gone();
    if (await this.page.getByText(secret).count()) this.fault('the secret is still on the page');
    return secret;
  }
  /** Finds the one request that waits for this subject, compares what it shows with what the API will carry out, and approves it.
   *  by: the name that must stand there as the requester's. changes: looks at the dialog before. */
  async approve(call, kind, subject, { by, changes } = {}) {
    const waiting = (await call('GET', '/v1/approvals?state=PENDING&page_size=200')).data;
    const asked = waiting.find((a) => a.kind === kind && (subject === undefined || a.subject === subject));
    if (!asked) throw new Error(`no request ${kind} of ${subject} waits: ${JSON.stringify(waiting)}`);
    await this.go('/approvals?state=PENDING');
    const row = this.row(this.word(`approvals.kind_${kind.replaceAll('.', '_')}`), asked.subject);
    if (by) await row.getByText(by, { exact: true }).waitFor();
    const same = async () => {
      const shown = JSON.parse(await this.dialog.locator('pre.json').innerText());
      if (JSON.stringify(shown) !== JSON.stringify(asked.payload))
        throw new Error(`${kind} shows ${JSON.stringify(shown)} and asks ${JSON.stringify(asked.payload)}`);
    };
    await this.press('approvals.exact', row);
    await same();
    await changes?.(this.dialog);
    await this.page.keyboard.press('Escape');
    await this.press('approvals.approve', row);
    await same();
    await this.submit({ name: asked.subject, reason: 'seen and found right' });
    return asked;
  }

  /** What the API says to this person. */
  async get(path) {
    const { status, body } = await this.page.evaluate(async (at) => {
      const r = await fetch(at);
      return { status: r.status, body: await r.json() };
    }, path);
    if (status !== 200) throw new Error(`${this.who} GET ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }
  fault(what) {
    this.t.fault(this.page.where, what);
  }
  same(what, got, wanted) {
    const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)];
    if (a !== b) this.fault(`${what}: ${a}, not ${b}`);
  }
  /** The status of a call as a token. */
  async status(token, method, path, body) {
    const headers = {
      authorization: `Bearer ${token}`,
      'idempotency-key': crypto.randomUUID(),
      ...(body ? { 'content-type': path.startsWith('/scim/') ? 'application/scim+json' : 'application/json' } : {}),
    };
    const json = body && JSON.stringify(body);
    return (await fetch(new URL(path, this.t.base), { method, headers, body: json })).status;
  }
  /** A change by somebody else, behind the back of an open dialog. */
  async patch(path, version, change) {
    const authorization = `Bearer ${this.t.tenantToken}`;
    const headers = { 'content-type': 'application/json', authorization, 'if-match': `"v${version}"` };
    const r = await fetch(this.t.base + path, { method: 'PATCH', headers, body: JSON.stringify(change) });
    if (!r.ok) throw new Error(`PATCH ${path}: ${r.status} ${await r.text()}`);
  }
  async dead(what, token) {
    await until(`${what} is refused`, async () => (await this.status(token, 'GET', '/v1/me')) === 401, SOON);
  }
  /** The page of somebody whose session has ended elsewhere. */
  async out() {
    this.expect(401);
    const ask = () => this.page.evaluate(() => fetch('/v1/me').then((r) => r.status));
    await until('the session ends', async () => (await ask()) === 401, SOON);
  }
  async login(tenant, name, password) {
    return await this.page.evaluate(
      async (body) => {
        const headers = { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() };
        return (await fetch('/v1/auth/login', { method: 'POST', headers, body: JSON.stringify(body) })).status;
      },
      { tenant, name, password },
    );
  }
}

export async function acts(t, hand, list) {
  for (const [name, act] of list) {
    const began = Date.now();
    hand.act = name;
    hand.page.where = `${hand.who}: ${name}`;
    try {
      await act(hand);
    } catch (e) {
      t.fault(
        hand.page.where,
        e instanceof Error ? (e.stack ?? e.message).split('\n').slice(0, 6).join('\n') : String(e),
      );
      const file = `acts-${hand.who}-${name}.png`.replaceAll(/[^a-z0-9.-]+/gi, '-');
      await hand.page.screenshot({ path: join(t.shots, file) }).catch(() => undefined);
    }
    if (process.env.TRACE) console.log(`${((Date.now() - began) / 1000).toFixed(1)} s ${hand.page.where}`);
  }
}

/** Every page of a person's menu, looked at once: what is refused there is a fault by itself. */
export async function walk(t, hand, expected) {
  await hand.go('/');
  const links = hand.page.locator('nav a.pf-v6-c-nav__link');
  const paths = await links.evaluateAll((all) => all.map((a) => a.getAttribute('href').split('?')[0]));
  const differ = JSON.stringify([...paths].sort()) !== JSON.stringify([...expected].sort());
  if (differ) t.fault(`${hand.who}: menu`, `shows ${paths.join(' ')}`);
  for (const path of paths) {
    hand.page.where = `${hand.who}: ${path}`;
    // Nobody here has chosen mails of their own: the API says that there are none.
    await hand.go(path, undefined, path === '/notifications' ? [404] : []);
    const failed = await hand.page.locator('.pf-v6-c-alert.pf-m-danger, .pf-v6-c-empty-state.pf-m-danger').count();
    if (failed > 0) t.fault(hand.page.where, await hand.page.locator('main').innerText());
  }
}
