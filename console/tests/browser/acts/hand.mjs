// SPDX-License-Identifier: Apache-2.0
// hand.mjs - the hand that fills dialogs and sends them, and the look at the API afterwards. English, by the pointer.
import { settled } from '../checks.mjs';
import { PASSWORD, setPrefs, until } from '../platform.mjs';
import { Steps, word } from '../steps.mjs';

const SOON = 8_000; // what ends anywhere is refused within 5 s

export class Hand extends Steps {
  /** who: a person of t.people, or nobody. */
  static async of(t, who) {
    const page = await t.open(who);
    if (!who) await page.goto(`${t.base}/falaj.svg`);
    await setPrefs(page, { lang: 'en', theme: 'light' });
    return new Hand(t, page, { person: `acts of ${who ?? 'nobody'}`, lang: 'en', by: 'pointer' });
  }
  async go(path, wait) {
    this.page.expected = [404];
    await this.page.goto(this.t.base + path);
    await settled(this.page, wait);
  }
  /** Codes of answers that the next acts provoke. */
  expect(...codes) {
    this.page.expected = [404, ...codes];
  }
  get dialog() {
    return this.page.getByRole('dialog').last();
  }
  row(name) {
    return this.page.getByRole('row').filter({ hasText: name });
  }
  async gone() {
    await this.page.getByRole('dialog').waitFor({ state: 'detached', timeout: 15_000 });
  }
  /** Opens the dialog behind a button, of the page or of one of its rows. */
  async opens(label, inside = this.page) {
    await this.click('button', word('en', label), { inside });
    await this.dialog.waitFor();
  }
  async put(label, value) {
    await this.fill(word('en', label), value, { inside: this.dialog });
  }
  async pick(label, choice) {
    await this.choose(word('en', label), choice, { inside: this.dialog });
  }
  async send(label) {
    await this.click('button', word('en', label), { inside: this.dialog });
  }
  /** The dialog of what cannot be taken back: the name is typed. */
  async typed(label, name, { inside, reason } = {}) {
    await this.opens(label, inside);
    await this.fill(word('en', 'confirm.type', { name: `\u2068${name}\u2069` }), name, { inside: this.dialog });
    if (reason) await this.put('confirm.reason', reason);
    await this.send(label);
    await this.gone();
  }
  /** The secret that is shown this once. */
  async once(title) {
    const box = this.page.getByRole('textbox', { name: word('en', title) });
    const secret = await box.inputValue({ timeout: 15_000 });
    await this.click('button', word('en', 'confirm.kept'));
    await this.gone();
    if (await this.page.getByText(secret).count()) this.fault('the secret is still on the page');
    return secret;
  }
  /** A field of the open dialog says what is wrong with it. */
  async refused(label) {
    const field = this.field(word('en', label), { inside: this.dialog });
    await this.page.waitForFunction((e) => e.getAttribute('aria-invalid') === 'true', await field.elementHandle(), {
      timeout: 10_000,
    });
    const help = await field.evaluate((e) => document.getElementById(e.getAttribute('aria-describedby'))?.textContent);
    if (!help) this.fault(`${label} is refused without a word`);
    return help ?? '';
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
export const W = (key, values) => word('en', key, values);
export { PASSWORD, until };
