// SPDX-License-Identifier: Apache-2.0
// zones.mjs - a zone is added with a law built from templates, and a change of that law is approved by who sees what is new.
import { acts } from '../hand.mjs';

export async function zones(t, operator, watcher) {
  const code = 'ae-shj-1';
  const law = () => t.platform('GET', `/v1/zones/${code}/law`);
  await acts(t, operator, [
    [
      'add a zone',
      async (h) => {
        await h.go('/zones');
        await h.press('zones.new');
        const flow = (name) => h.dialog.locator(`.law-preview [data-flow=${name}]`);
        await flow('barred').getByText('Health').waitFor();
        const pick = async (law) => {
          await h.dialog.locator('[name=template]').selectOption(law);
          await h.dialog.getByRole('button', { name: h.word('zones.dropLaw', { law }) }).waitFor();
        };
        await pick('uae-pdpl');
        await pick('uae-health-ict');
        await flow('exception').getByText('Health').waitFor();
        await flow('basis').getByText('Personal and Sensitive').waitFor();
        await h.dialog.getByText('Federal Law 2/2019 Art 13', { exact: false }).first().waitFor();
        await pick('gdpr');
        await h.dialog.getByRole('button', { name: h.word('zones.dropLaw', { law: 'gdpr' }) }).click();
        await h.dialog.locator('[name="rule_1_may_leave"]').selectOption('never');
        await flow('exception').getByText('Sensitive and Health').waitFor();
        await h.submit({ code, name: 'Sharjah 1' });
        await h.page.waitForURL(`**/zones/${code}`);
        const made = await law();
        const says = made.rules.map((r) => `${r.regime} ${r.data_class} ${r.may_leave}`);
        h.same('the rules', says, [
          'uae-pdpl personal with_basis',
          'uae-pdpl sensitive never',
          'uae-health-ict health never',
        ]);
        h.same('the laws', [made.legal_regimes, made.regulator], [['uae-pdpl', 'uae-health-ict'], 'UAE Data Office']);
        if (!made.data_classes.includes('health') || made.clocks.length !== 2) throw new Error(JSON.stringify(made));
      },
    ],
    [
      'ask for a change of its law',
      async (h) => {
        const before = await law();
        await h.press('zones.askLaw');
        await h.submit({ rule_0_may_leave: 'never', class_gov: true, reason: 'the decree names a stricter rule' });
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
