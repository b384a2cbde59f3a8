// SPDX-License-Identifier: Apache-2.0
// zones.mjs - a zone is added with its first law, and a change of that law is approved by who sees what is new in it.
import { acts } from '../hand.mjs';

export async function zones(t, operator, watcher) {
  const code = 'ae-shj-1';
  const law = () => t.platform('GET', `/v1/zones/${code}/law`);
  const rule = {
    regime: 'uae-pdpl',
    data_class: 'personal',
    may_leave: 'never',
    countries: ['AE'],
    source_text: 'Federal Decree-Law 45/2021 Art 22',
    valid_from: '2022-01-02T00:00:00Z',
  };
  await acts(t, operator, [
    [
      'add a zone',
      async (h) => {
        await h.go('/zones');
        await h.press('zones.new');
        await h.submit({ code, name: 'Sharjah 1', legal_regimes: 'uae-pdpl', regulator: 'UAE Data Office' });
        await h.page.waitForURL(`**/zones/${code}`);
        const made = await law();
        if (made.regulator !== 'UAE Data Office') throw new Error(JSON.stringify(made));
      },
    ],
    [
      'ask for a change of its law',
      async (h) => {
        const before = await law();
        await h.press('zones.askLaw');
        await h.submit({ rules: JSON.stringify([rule]), class_gov: true, reason: 'the decree names a stricter rule' });
        if (JSON.stringify(await law()) !== JSON.stringify(before)) throw new Error('it changed unasked');
      },
    ],
  ]);
  await acts(t, watcher, [
    [
      'approve the law',
      async (h) => {
        const asked = await h.approve(t.platform, 'zone.policy', `law of ${code}`, {
          changes: async (dialog) => {
            const table = dialog.getByRole('grid', { name: h.word('approvals.changes') });
            await table.getByText('data_classes').waitFor();
            await table.getByText('rules.uae-pdpl personal.may_leave').waitFor();
            if ((await table.getByText('regulator').count()) > 0) throw new Error('what stays is shown as a change');
          },
        });
        const now = await law();
        const same = JSON.stringify(now.data_classes) === JSON.stringify(asked.payload.law.data_classes);
        if (now.rules[0]?.may_leave !== 'never' || !same) throw new Error(JSON.stringify(now));
        await h.go(`/zones/${code}`);
        await h.sees(h.word('zones.never'));
      },
    ],
  ]);
}
