// SPDX-License-Identifier: Apache-2.0
// keyboard.mjs - forms by keys alone: sent empty the focus goes to the first field that is wrong, every field is reached with
// Tab, filled and sent, what the API refuses has the focus again, and the button that opened the form has it at the end.
import { until } from '../platform.mjs';

const own = (h, name) => `${name}-${h.lang}`;
const focused = (h) =>
  h.page.evaluate(() => {
    const e = document.activeElement;
    return { name: e.getAttribute('name'), wrong: e.getAttribute('aria-invalid') === 'true' };
  });

/** Tab to the field of that name, and what a person presses there. */
async function type(h, name, value) {
  const field = h.dialog.locator(`[name="${name}"]`);
  h.step(`type ${name}`);
  await h.reach(field, name);
  const tag = await field.evaluate((e) => (e.type === 'checkbox' ? 'box' : e.tagName));
  if (tag === 'box') return h.page.keyboard.press('Space');
  if (tag !== 'SELECT') {
    await h.page.keyboard.press('Control+A');
    return h.page.keyboard.insertText(value);
  }
  const [now, wanted] = await field.evaluate(
    (e, v) => [e.selectedIndex, [...e.options].findIndex((o) => o.value === v)],
    value,
  );
  if (wanted < 0) throw new Error(`${name} has no option ${value}`);
  for (let i = now; i !== wanted; i += Math.sign(wanted - now))
    await h.page.keyboard.press(wanted > i ? 'ArrowDown' : 'ArrowUp');
  return undefined;
}
async function send(h) {
  const button = h.dialog.locator('button[type=submit]');
  await until('the form can be sent', () => button.isEnabled());
  await h.reach(button, 'what sends it');
  await h.page.keyboard.press('Enter');
}
/** The focus stands at a field that is wrong, and no wrong field stands before it. */
async function atFirstFault(h, name) {
  await until('the focus is at a field that is wrong', async () => (await focused(h)).wrong);
  const first = await h.dialog.locator('[aria-invalid=true]').first().getAttribute('name');
  h.same('the field with the focus', (await focused(h)).name, first);
  if (name) h.same('the first field that is wrong', first, name);
}

/** What the API refuses as a whole is told above the fields, and has the focus there. */
const atRefusal = (h) =>
  until('the focus is where the refusal is told', () =>
    h.page.evaluate(() => {
      const e = document.activeElement;
      return (
        e.closest('[role=dialog]') !== null &&
        (e.matches('[aria-invalid=true]') || e.textContent.length > 0) &&
        e.tagName !== 'BUTTON'
      );
    }),
  );

/** then: what is waited for in the place of the form's end. opens: the words of the button. empty: the field that has the focus
 *  when it is sent as it opens. */
function form(name, as, path, opens, empty, values, more = {}) {
  return {
    name: `keys: ${name}`,
    as,
    path,
    expected: more.expected ?? [],
    act: async (h, t) => {
      const opener = h.find('button', h.word(opens));
      await opener.focus();
      await h.page.keyboard.press('Enter');
      await h.dialog.waitFor();
      if (empty) {
        await send(h);
        await atFirstFault(h, empty);
      }
      for (const [field, value] of Object.entries(values(h, t))) await type(h, field, value);
      await send(h);
      if (more.then) return more.then(h, t);
      await h.gone();
      await until('the focus is back', async () => await opener.evaluate((e) => e === document.activeElement));
      return undefined;
    },
  };
}

const DIGEST = 'a'.repeat(64);

export default [
  form('a data set', 'admin', '/datasets', 'nav.newDataset', 'name', (h) => ({ name: own(h, 'keys') }), {
    then: (h) => h.page.waitForURL(/\/datasets\/dst_/),
  }),
  form('a name that is no name', 'admin', '/datasets', 'nav.newDataset', 'name', () => ({ name: 'No Name' }), {
    then: (h) => atFirstFault(h, 'name'),
  }),
  form('a project', 'admin', '/projects', 'projects.create', 'name', (h) => ({
    name: own(h, 'keys'),
    display_name: 'By keys',
  })),
  form('a project that is there', 'admin', '/projects', 'projects.create', 'name', () => ({ name: 'taken' }), {
    expected: [409],
    then: atRefusal,
  }),
  form('a budget', 'admin', '/quotas?tab=budgets', 'budgets.new', 'name', (h) => ({
    name: own(h, 'keys'),
    measure: 'kwh',
    amount: h.lang === 'ar' ? '١٠٠' : '100',
  })),
  form('a rule', 'admin', '/quotas?tab=rules', 'rules.new', 'nominal', (h) => ({
    place: 'queue',
    queue: own(h, 'keys'),
    nominal: h.lang === 'ar' ? '٤' : '4',
  })),
  form('a queue', 'admin', '/queues', 'queues.declare', 'name', (h) => ({ name: own(h, 'keys'), mode: 'StrictFIFO' })),
  form('a secret', 'admin', '/secrets', 'secrets.add', 'name', (h) => ({
    name: own(h, 'keys'),
    value: 'hush-hush-hush',
  })),
  form('a hold', 'compliance', '/audit/holds', 'holds.place', 'reason', (h) => ({ reason: own(h, 'keys') })),
  form(
    'a way out that the law refuses',
    'admin',
    '/residency?tab=policies',
    'residency.propose',
    'document_sha256',
    (h, t) => ({
      to_zone: t.ids.far,
      purpose: 'support',
      document_sha256: DIGEST,
      assessment_ref: own(h, 'keys'),
      days: h.lang === 'ar' ? '٣٠' : '30',
    }),
    { expected: [422], then: atRefusal },
  ),
  form(
    'a tenant',
    'operator',
    '/tenants',
    'tenants.new',
    'name',
    (h, t) => ({ name: own(h, 'keys'), home_zone: t.ids.zone }),
    {
      then: async (h) => {
        await h.once('tenants.adminToken');
      },
    },
  ),
  form(
    'a zone',
    'operator',
    '/zones',
    'zones.new',
    'code',
    (h) => ({
      code: h.lang === 'en' ? 'ae-fjr-1' : 'ae-fjr-2',
      name: own(h, 'keys'),
    }),
    { then: (h) => h.page.waitForURL(/\/zones\/ae-fjr/) },
  ),
];

export async function seed(t) {
  await t.tenant('POST', '/v1/projects', { name: 'taken' });
  t.ids.far = 'ae-auh-9';
  await t.platform('POST', '/v1/zones', { code: t.ids.far, name: 'Far', country: 'AE' }).catch(() => undefined);
}
