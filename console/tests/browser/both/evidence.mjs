// SPDX-License-Identifier: Apache-2.0
// evidence.mjs - the evidence report in an auditor's words, on its page and on the sheet for the printer: who by name, what holds
// the keys, no JSON and no codes where there are words.
import { until } from '../platform.mjs';
import { word } from '../steps.mjs';

/** Mariam puts health data where no law lets it be: refused. */
export async function seed(t) {
  await t.platform('POST', '/v1/zones', { code: 'de-fra-9', name: 'Frankfurt 9', country: 'DE' });
  const job = { name: 'abroad', kind: 'train', zone: 'de-fra-9', spec: { dataset_id: t.ids.set } };
  await t.tenant('POST', '/v1/jobs', job).catch(() => undefined);
  await until('the refusal', async () => {
    t.ids.rule = (await t.tenant('GET', '/v1/evidence')).denied[0]?.rule;
    return t.ids.rule;
  });
}

function says(h, text) {
  h.must(!/[{}]|":"/.test(text), `JSON stands there: ${/.{0,40}[{}].{0,40}/.exec(text)?.[0]}`);
  for (const w of ['softfile', 'tenant-admin', h.t.ids.rule, 'PRIMARY', 'compliance-officer'])
    h.must(!text.includes(w), `the code ${w} stands there`);
  for (const key of [
    'role.tenant-admin',
    'keyring.provider_softfile',
    'evidence.f_model',
    `evidence.rule_${h.t.ids.rule}`,
  ])
    h.must(text.includes(word(h.lang, key)), `${word(h.lang, key)} is missing`);
  h.must(text.includes('Mariam') && text.includes('Layla'), 'nobody is named');
}

export default [
  {
    name: 'evidence page',
    as: 'compliance',
    path: '/evidence',
    act: async (h) => {
      await h.page.locator('details.evidence-part').first().waitFor();
      await h.page.evaluate(() => document.querySelectorAll('details').forEach((d) => (d.open = true)));
      says(h, await h.page.locator('#main').innerText());
    },
  },
  {
    name: 'evidence sheet',
    as: 'compliance',
    path: '/evidence',
    act: async (h, t) => {
      const text = await h.page.evaluate(
        (at) => fetch(at).then((r) => r.text()),
        `${t.base}/v1/evidence.html?lang=${h.lang}`,
      );
      const body = text.slice(text.indexOf('<body>'));
      says(h, body.replaceAll(/<[^>]*>/g, ' '));
      h.must(body.includes('Palm Bank') || body.includes('النخيل'), 'the organisation is not named');
      if (h.lang === 'ar')
        h.must(/\d+ (يناير|نوفمبر|ديسمبر|[\u0621-\u064a]+) \d{4}،/.test(body), 'no time as people write it');
    },
  },
];
