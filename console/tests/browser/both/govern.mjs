// SPDX-License-Identifier: Apache-2.0
// govern.mjs - what is set up once: a zone's law from templates, the first upload of regulated data, roles that somebody lacks;
// and a sheet that is looked at is no export.
import { until } from '../platform.mjs';

export async function seed(t) {
  const body = { name: 'regulated', label_column: 'label', classes: 2, data_class: 'health' };
  t.ids.regulated = (await t.tenant('POST', '/v1/datasets', body)).dataset_id;
  const all = (await t.tenant('GET', '/v1/users?page_size=200')).data;
  t.ids.omar = all.find((u) => u.name === t.people.engineer.name).user_id;
}
/** A law of a template is part of what the dialog would make. */
async function pick(h, law) {
  await h.dialog.locator('[name=template]').selectOption(law);
  await h.dialog.getByRole('button', { name: h.word('zones.dropLaw', { law }) }).waitFor();
}

export default [
  {
    name: 'a law from templates',
    as: 'operator',
    path: '/zones',
    act: async (h, t) => {
      const code = `ae-shj-${h.lang === 'en' ? 7 : 8}`;
      await h.opens('zones.new');
      const flow = (name) => h.dialog.locator(`.law-preview [data-flow=${name}]`);
      await flow('barred').getByText(h.word('class.health')).waitFor();
      await pick(h, 'uae-pdpl');
      await pick(h, 'uae-health-ict');
      await flow('exception').getByText(h.word('class.health')).waitFor();
      await flow('basis').getByText(h.word('class.personal')).waitFor();
      await h.dialog.getByText('Federal Law 2/2019 Art 13', { exact: false }).first().waitFor();
      await pick(h, 'gdpr');
      await h.dialog.getByRole('button', { name: h.word('zones.dropLaw', { law: 'gdpr' }) }).click();
      await h.submit({ code, name: `Sharjah ${h.lang}` });
      await h.page.waitForURL(`**/zones/${code}`);
      const law = await t.platform('GET', `/v1/zones/${code}/law`);
      h.same('the laws', law.legal_regimes, ['uae-pdpl', 'uae-health-ict']);
    },
  },
  {
    name: 'regulated data says what is missing',
    as: 'admin',
    path: (ids) => `/datasets/${ids.regulated}`,
    act: async (h) => {
      await h.opens('datasets.upload');
      await h.dialog.getByText(h.word('datasets.barred', { what: h.word('class.health') })).waitFor();
      const roles = h.word('role.compliance-officer');
      await h.dialog.getByText(h.word('remedy.approves_platform', { roles })).waitFor();
      await h.dialog.getByRole('link', { name: h.word('remedy.go_zone_law_put') }).click();
      await h.page.waitForURL(`**/zones/${h.t.ids.zone}`);
    },
  },
  {
    name: 'granting offers what is not held',
    as: 'admin',
    path: (ids) => `/members/${ids.omar}`,
    act: async (h) => {
      await h.opens('members.grant');
      const offered = await h.dialog.locator('select[name=role] option').allInnerTexts();
      h.must(offered.includes(h.word('role.viewer')), `it offers ${offered.join(', ')}`);
      h.must(!offered.includes(h.word('role.ml-engineer')), 'it offers what is held already');
    },
  },
  {
    name: 'a sheet that is looked at is a reading',
    as: 'compliance',
    path: '/audit/summary?when=days30',
    expected: [404], // the log has no signed head in its first minute
    act: async (h, t) => {
      await h.page.locator('.counted').waitFor();
      const by = async (action) =>
        (await t.tenant('GET', `/v1/audit/events?action=${action}&page_size=50`)).data.filter(
          (e) => e.actor_name === t.people.compliance.name,
        ).length;
      await until('the reading', () => by('audit.read'));
      h.same('exports', await by('audit.export'), 0);
    },
  },
];
