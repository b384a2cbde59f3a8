// SPDX-License-Identifier: Apache-2.0
// hand.mjs - a person's hand on the console: presses buttons by their words, fills dialogs and sends them, and says what a refusal said.
//
//   const hand = await Hand.of(t, 'admin');
//   await acts(t, hand, [['rotate', async (h) => { await h.go('/keys/ae-dxb-1'); await h.press('keyring.rotate'); await h.send(); }]]);
//
// Words come from the English catalogue, fields are found by their name in the API. An act that fails is one fault with a picture, and the
// acts after it still run. TRACE=1 prints how long each took.
import { join } from 'node:path';
import { settled } from './checks.mjs';
import { PASSWORD, setPrefs, until } from './platform.mjs';
import { word } from './steps.mjs';

const PATIENCE = 10_000;

/** Somebody more who can sign in: in a tenant by its administrator's call, on the platform by the operator's. */
export async function invite(t, key, call, tenant, name, role) {
  const invited = await call('POST', '/v1/invitations', { name, roles: [role] });
  await t.call('', 'POST', '/v1/auth/invitations/accept', { token: invited.token, password: PASSWORD });
  t.people[key] = { tenant, name, password: PASSWORD };
}

export class Hand {
  static async of(t, who) {
    const page = await t.open(who);
    page.where = who;
    page.expected = [];
    page.setDefaultTimeout(PATIENCE);
    await setPrefs(page, { lang: 'en', theme: 'light' });
    return new Hand(t, page, who);
  }
  constructor(t, page, who) {
    Object.assign(this, { t, page, who });
  }
  word(key, values) {
    return word('en', key, values);
  }
  get dialog() {
    return this.page.getByRole('dialog').last();
  }
  async go(path) {
    await this.page.goto(`${this.t.base}${path}`);
    await settled(this.page);
  }
  async press(key, inside = this.page) {
    await inside
      .getByRole('button', { name: this.word(key), exact: true })
      .first()
      .click({ timeout: PATIENCE });
  }
  row(...texts) {
    return texts.reduce((rows, hasText) => rows.filter({ hasText }), this.page.locator('tbody tr')).first();
  }
  async sees(text) {
    await this.page.getByText(text).first().waitFor({ timeout: PATIENCE });
  }
  async fill(values, inside = this.dialog) {
    for (const [name, value] of Object.entries(values)) {
      const field = inside.locator(`[name="${name}"]`);
      const type = await field.evaluate((e) => e.type, undefined, { timeout: PATIENCE });
      if (type === 'checkbox') await field.setChecked(value);
      else if (type === 'select-one') await field.selectOption(value);
      else await field.fill(value);
    }
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
  /** Fills the dialog that is open, sends it, and waits until it has closed; what it says instead is the error. */
  async send(values = {}) {
    await this.fill(values);
    const form = this.dialog.locator('form');
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
  async confirm(key, name, reason, inside = this.page) {
    await this.press(key, inside);
    await this.send({ name, ...(reason ? { reason } : {}) });
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
    await this.send({ name: asked.subject, reason: 'seen and found right' });
    return asked;
  }
}

export async function acts(t, hand, list) {
  for (const [name, act] of list) {
    const began = Date.now();
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
    await hand.go(path);
    const failed = await hand.page.locator('.pf-v6-c-alert.pf-m-danger, .pf-v6-c-empty-state.pf-m-danger').count();
    if (failed > 0) t.fault(hand.page.where, await hand.page.locator('main').innerText());
  }
}
