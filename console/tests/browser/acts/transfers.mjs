// SPDX-License-Identifier: Apache-2.0
// transfers.mjs - a transfer policy is proposed by one person, approved by another who sees exactly what it asks, and revoked.
import { acts } from '../hand.mjs';

const law = { legal_regimes: ['adgm-dpr'], data_classes: ['public', 'internal', 'personal'], rules: [], clocks: [] };
export const ABROAD = { code: 'ae-adgm-1', name: 'Global Market', country: 'AE', law };

export async function transfers(t, admin, officer) {
  const abroad = ABROAD.code;
  const policy = async () =>
    (await t.tenant('GET', '/v1/transfer-policies')).data.find((p) => p.assessment_ref === 'TRA-2026-9');
  const must = async (state) => {
    const p = await policy();
    if (p?.state !== state) throw new Error(`the policy is ${JSON.stringify(p)}, not ${state}`);
  };
  const asked = {
    from_zone: t.ids.zone,
    to_zone: abroad,
    data_class: 'personal',
    purpose: 'training',
    legal_basis: 'contract',
    document_sha256: 'ab'.repeat(32),
    assessment_ref: 'TRA-2026-9',
    recipients: 'Falaj Training, Falaj Serving',
    days: '30',
  };
  await acts(t, admin, [
    [
      'regulated data says what is missing before it is sent',
      async (h) => {
        const body = { name: 'acts-health', label_column: 'label', classes: 2, data_class: 'health' };
        const { dataset_id: id } = await t.tenant('POST', '/v1/datasets', body);
        await h.go(`/datasets/${id}`);
        await h.press('datasets.upload');
        await h.dialog.getByText(h.word('datasets.barred', { what: 'Health' })).waitFor();
        await h.dialog.getByText(h.word('remedy.approves_platform', { roles: 'Compliance officer' })).waitFor();
        await h.dialog.getByRole('link', { name: h.word('remedy.go_zone_law_put') }).click();
        await h.page.waitForURL(`**/zones/${t.ids.zone}`);
      },
    ],
    [
      'propose a transfer policy',
      async (h) => {
        await h.go('/residency?tab=policies');
        await h.press('residency.propose');
        await h.submit(asked);
        await must('PROPOSED');
        await h.row(abroad).getByText(h.word('value.PROPOSED')).waitFor();
      },
    ],
  ]);
  await acts(t, officer, [
    [
      'open a passport without a right to data sets',
      async (h) => {
        await h.go('/audit');
        await h.page.getByRole('link', { name: h.word('audit.passports') }).click();
        await h.row('acts-health').getByRole('link', { name: 'acts-health' }).click();
        await h.page.waitForURL('**/passport');
        await h.sees(h.word('passport.lead'));
        h.expect(403);
        h.same('data sets', await h.page.evaluate(() => fetch('/v1/datasets').then((r) => r.status)), 403);
      },
    ],
    [
      'try a policy out before it is there',
      async (h) => {
        const written = async () =>
          JSON.stringify([await policy(), (await t.tenant('GET', '/v1/approvals')).data.length]);
        const before = await written();
        await h.go('/residency');
        await h.page.getByRole('link', { name: h.word('whatif.title') }).click();
        const choose = (name, value) => h.page.locator(`form [name=${name}]`).selectOption(value);
        await choose('about', 'class health');
        await choose('zone', abroad);
        await h.press('whatif.try');
        const rows = (outcome) => h.page.locator(`.whatif-result tbody tr[data-outcome=${outcome}]`);
        await rows('stays_forbidden').first().waitFor();
        await choose('about', 'class personal');
        await h.press('whatif.try');
        await rows('possible')
          .filter({ hasText: h.word('whatif.kind_transfer') })
          .first()
          .waitFor();
        await h.sees(h.word('remedy.approves_tenant', { roles: 'Compliance officer' }));
        await choose('zone', t.ids.zone);
        await choose('law', 'uae-health-ict');
        await h.press('whatif.try');
        await rows('forbidden')
          .filter({ hasText: h.word('whatif.kind_upload') })
          .first()
          .waitFor();
        h.same('what is written', await written(), before);
      },
    ],
    [
      'approve the policy',
      async (h) => {
        const { payload } = await h.approve(t.tenant, 'transfer.policy');
        const { recipients, ...same } = asked;
        for (const [k, v] of Object.entries(same))
          if (k !== 'days' && payload[k] !== v) throw new Error(`${k} is asked as ${payload[k]}, was proposed as ${v}`);
        if (payload.recipients.join(', ') !== recipients) throw new Error(`recipients: ${payload.recipients}`);
        await must('ACTIVE');
      },
    ],
  ]);
  await acts(t, admin, [
    [
      'revoke the policy',
      async (h) => {
        await h.go('/residency?tab=policies');
        await h.confirm('residency.revoke', `${t.ids.zone} ${abroad}`, { inside: h.row(abroad) });
        await must('REVOKED');
        await h.row(abroad).getByText(h.word('value.REVOKED')).waitFor();
      },
    ],
  ]);
}
