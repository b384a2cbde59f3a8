// SPDX-License-Identifier: Apache-2.0
// steps.mjs - a person's task, driven by the pointer or by keys alone, in one language, with every step counted.
//
//   await task('engineer', { pointer: 31, keys: 31 }, async (s, t) => {
//     await s.click('link', s.word('nav.datasets'));
//     await s.fill(s.word('col.name'), 'digits');
//     await s.press('Control+Enter');
//     await s.see('heading', 'digits');
//   });
//
// A step is one click, one filled field, one chosen option, one file or one chord of keys; waiting and looking are none. By keys a thing
// is reached with Tab from where the focus is, which is counted apart: what cannot be reached so, or stands outside the window when it is
// reached, is a fault. Things are found by their role and their name, and names come from the catalogues, never from the markup.
// The budget is what the task needs now: more steps, or a Tab-stop farther than LONGEST, fail. LANGS=ar WAYS=keys runs only that.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, setPrefs } from './platform.mjs';

const LONGEST = 150;
const FIELDS = ['textbox', 'combobox', 'spinbutton', 'searchbox'];
export const list = (name, all) => process.env[name]?.split(',') ?? all;
const catalogues = new Map();

function catalogue(lang, area) {
  const at = `${lang}/${area}`;
  if (!catalogues.has(at)) {
    const path = join(import.meta.dirname, '../../src/locales', `${at}.json`);
    catalogues.set(at, JSON.parse(readFileSync(path, 'utf8')));
  }
  return catalogues.get(at);
}
/** The words of a key as the console shows them; a counted key takes `count` among its values. */
export function word(lang, key, values = {}) {
  const [area, ...rest] = key.split('.');
  const name = rest.join('.');
  const all = catalogue(lang, area);
  const plural = values.count === undefined ? undefined : new Intl.PluralRules(lang).select(values.count);
  const text = all[name] ?? all[`${name}_${plural}`];
  if (text === undefined) throw new Error(`${lang} has no words for ${key}`);
  return text.replace(/\{\{(\w+)\}\}/g, (_all, v) => String(values[v] ?? ''));
}

export class Steps {
  constructor(t, page, { person, lang, by }) {
    Object.assign(this, { t, page, person, lang, by, count: 0, tabs: 0, longest: 0, started: Date.now(), trail: [] });
  }
  word(key, values) {
    return word(this.lang, key, values);
  }
  /** The first of that role and name; `inside` narrows it: another locator of the page. */
  find(role, name, { inside = this.page, exact = typeof name === 'string', ...options } = {}) {
    return inside.getByRole(role, { name, exact, ...options }).first();
  }
  field(name, { inside = this.page } = {}) {
    const all = FIELDS.map((role) => inside.getByRole(role, { name, exact: typeof name === 'string' }));
    return all
      .reduce((a, b) => a.or(b))
      .or(inside.locator('input[type=password]').and(inside.getByLabel(name)))
      .first();
  }
  step(what) {
    this.count++;
    this.trail.push(what);
    this.page.where = `task ${this.person} ${this.lang} ${this.by}, step ${this.count}: ${what}`;
    if (process.env.TRACE) console.log(`${((Date.now() - this.started) / 1000).toFixed(1)} s ${this.page.where}`);
  }

  /** By keys: Tab until the focus is on it. */
  async reach(target, what) {
    await target.waitFor({ state: 'visible', timeout: 30_000 });
    const isThere = () => target.evaluate((e) => e === document.activeElement).catch(() => false);
    for (let n = 0; !(await isThere()); n++) {
      if (n === LONGEST) throw new Error(`${what}: not reached with ${LONGEST} Tabs`);
      await this.page.keyboard.press('Tab');
      this.tabs++;
      this.longest = Math.max(this.longest, n + 1);
    }
    const isSeen = await target.evaluate((e) => {
      const r = e.getBoundingClientRect();
      return r.bottom > 0 && r.top < innerHeight && r.right > 0 && r.left < innerWidth;
    });
    if (!isSeen) this.t.fault(this.page.where, 'has the focus and is outside the window');
  }
  async click(role, name, options = {}) {
    await this.activate(this.find(role, name, options), `${role} ${name}`, role);
  }
  async activate(target, what, role = 'button') {
    this.step(what);
    if (this.by === 'pointer') return target.click({ timeout: 30_000 });
    await this.reach(target, what);
    const isToggle = ['checkbox', 'radio', 'switch'].includes(role);
    return this.page.keyboard.press(isToggle ? 'Space' : 'Enter');
  }
  async fill(name, value, options = {}) {
    const target = this.field(name, options);
    this.step(`fill ${name}`);
    if (this.by === 'pointer') return target.fill(value, { timeout: 30_000 });
    await this.reach(target, `the field ${name}`);
    await this.page.keyboard.press('Control+A');
    return this.page.keyboard.insertText(value);
  }
  /** An option of a native list, by its label or a part of it. */
  async choose(name, label, options = {}) {
    const target = this.field(name, options);
    this.step(`choose ${name}: ${label}`);
    await target.waitFor({ state: 'visible', timeout: 30_000 });
    const [now, wanted] = await target.evaluate(
      (e, text) => [e.selectedIndex, [...e.options].findIndex((o) => o.label === text || o.label.includes(text))],
      label,
    );
    if (wanted < 0) throw new Error(`${name} has no option ${label}`);
    if (this.by === 'pointer') return target.selectOption({ index: wanted });
    await this.reach(target, `the list ${name}`);
    for (let i = now; i !== wanted; i += Math.sign(wanted - now))
      await this.page.keyboard.press(wanted > i ? 'ArrowDown' : 'ArrowUp');
    return undefined;
  }
  /** A file through the button that opens the browser's own dialog. */
  async attach(name, file) {
    const chooser = this.page.waitForEvent('filechooser', { timeout: 30_000 });
    await this.click('button', name);
    await (await chooser).setFiles(file);
  }
  async press(chord) {
    this.step(chord);
    for (const key of chord.split(' ')) await this.page.keyboard.press(key);
  }
  /** Looking is no step: waits until it is there. */
  async see(role, name, { timeout = 60_000, ...options } = {}) {
    const target = role === 'text' ? this.page.getByText(name).first() : this.find(role, name, options);
    await target.waitFor({ state: 'visible', timeout });
    return target;
  }

  end(budget) {
    const seconds = ((Date.now() - this.started) / 1000).toFixed(1);
    const of = `task ${this.person} ${this.lang} ${this.by}`;
    console.log(`${of}: ${this.count} steps, ${this.tabs} tabs (${this.longest} at once), ${seconds} s`);
    if (this.count > budget) {
      this.t.fault(of, `${this.count} steps, ${budget} are enough:\n  ${this.trail.join('\n  ')}`);
    }
  }
}

/** One person's way in one language, from a page where they have just signed in. as: who, where `person` names the task. */
export async function walk(t, { person, as = person, lang, by, budget, path = '/', expected = [] }, script) {
  const page = await t.open(as);
  await setPrefs(page, { lang, theme: 'light' });
  page.where = `task ${person} ${lang} ${by}`;
  page.expected = expected;
  await page.goto(`${t.base}${typeof path === 'function' ? path(t.ids) : path}`);
  await page.waitForSelector('#page-title', { timeout: 60_000 });
  const s = new Steps(t, page, { person, lang, by });
  s.own = (name) => `${name}-${lang}-${by}`;
  try {
    await script(s, t);
    s.end(budget);
  } catch (e) {
    await page.screenshot({ path: join(t.shots, `task-${person}-${lang}-${by}.png`) }).catch(() => undefined);
    throw new Error(`${page.where}\n${e instanceof Error ? e.stack : String(e)}`, { cause: e });
  }
  await page.context().close();
}

/** budget: { pointer, keys }. The script begins on the overview, signed in; what it makes must bear names of its own: s.own('digits'). */
export async function task(person, budget, script, options = {}) {
  await run(
    `task-${person}`,
    async (t) => {
      if (options.seed) await options.seed(t);
      for (const lang of list('LANGS', ['en', 'ar']))
        for (const by of list('WAYS', ['pointer', 'keys'])) {
          await walk(t, { ...options, person, lang, by, budget: budget[by] }, script);
        }
    },
    options,
  );
}
