// SPDX-License-Identifier: Apache-2.0
// audit.mjs - a compliance officer's acts on the log: a hold that only two others can lift, terms, a person made unreadable, an export.
import { readFileSync } from 'node:fs';
import { acts, Hand, invite } from '../hand.mjs';
import { until } from '../platform.mjs';

export async function audit(t, officer, others) {
  await invite(t, 'leaver', t.tenant, 'palm', 'Huda', 'ml-engineer');
  await (await Hand.of(t, 'leaver')).page.context().close();
  await until('a signed head', () => t.tenant('GET', '/v1/audit/head').catch(() => undefined));
  const users = (await t.tenant('GET', '/v1/users?page_size=200')).data;
  const idOf = (name) => users.find((u) => u.name === name).user_id;
  const [leaver, engineer] = [idOf('Huda'), idOf(t.people.engineer.name)];
  const hold = async () =>
    (await officer.get('/v1/audit/holds')).data.find((h) => h.reason === 'order 2026/41 of the court');
  await acts(t, officer, [
    [
      'place a hold',
      async (h) => {
        await h.go('/audit/holds');
        await h.press('holds.place');
        await h.submit({
          reason: 'order 2026/41 of the court',
          subject_id: engineer,
          from: '2026-01-01',
          to: '2026-12-31',
        });
        const placed = await hold();
        if (placed?.state !== 'ACTIVE' || placed.subject_id !== engineer || !placed.from_at || !placed.until_at)
          throw new Error(JSON.stringify(placed));
      },
    ],
    [
      'ask to lift it',
      async (h) => {
        await h.press('holds.lift', h.row('order 2026/41'));
        await h.submit({ reason: 'the case is over' });
        await h.go('/approvals?state=PENDING');
        const own = h.row(h.word('approvals.kind_audit_hold_lift'));
        await own.getByTitle(h.word('approvals.own')).waitFor();
      },
    ],
  ]);
  for (const [i, other] of others.entries())
    await acts(t, other, [
      [
        `approve the lifting, ${i + 1} of 2`,
        async (h) => {
          const asked = await h.approve(t.tenant, 'audit.hold.lift', undefined, { by: 'Layla' });
          if (asked.given !== i) throw new Error(`${asked.given} had approved before`);
          const state = (await hold()).state;
          if (state !== (i === 0 ? 'ACTIVE' : 'LIFTED')) throw new Error(`the hold is ${state}`);
        },
      ],
    ]);
  await acts(t, officer, [
    [
      'set a term',
      async (h) => {
        await h.go('/audit/retention');
        await h.press('retention.change');
        await h.submit({ class: 'JOB', keep_days: '400' });
        const term = (await h.get('/v1/audit/retention')).data.find((r) => r.class === 'JOB' && !r.zone);
        if (term?.keep_days !== 400) throw new Error(JSON.stringify(term));
        await h.row(h.word('retention.c_JOB'), '400').waitFor();
      },
    ],
    [
      'hand out what is kept of a person',
      async (h) => {
        await h.go('/audit/erasures');
        await h.page.locator('#er-who').selectOption(leaver);
        await h.page.getByRole('link', { name: h.word('kept.show') }).click();
        await h.row(h.word('kept.app_user_name'), 'Huda').waitFor();
        const waiting = h.page.waitForEvent('download');
        await h.press('kept.json');
        const handed = JSON.parse(readFileSync(await (await waiting).path(), 'utf8'));
        if (handed.user_id !== leaver || !handed.data.some((d) => d.place === 'invitation' && d.value === 'Huda'))
          throw new Error(JSON.stringify(handed));
      },
    ],
    [
      'erase a person',
      async (h) => {
        await h.go('/audit/erasures');
        await h.page.locator('#er-who').selectOption(leaver);
        await h.confirm('erasures.erase', 'Huda');
        const done = (await h.get('/v1/audit/erasures')).data.find((e) => e.user_id === leaver);
        if (!done?.erased_at) throw new Error('the API knows of no erasure');
        await h.page
          .locator('tbody tr input, tbody tr', { hasText: leaver.slice(0, 8) })
          .first()
          .waitFor();
        const offered = await h.page.locator('#er-who option').evaluateAll((all) => all.map((o) => o.value));
        if (offered.includes(leaver)) throw new Error('who was erased is offered again');
        await h.go(`/audit/persons/${leaver}`);
        await h.row(h.word('kept.app_user_name'), leaver.slice(-6)).waitFor();
        if ((await h.page.getByRole('button', { name: h.word('erasures.erase') }).count()) > 0)
          throw new Error('who was erased can be erased again');
        await h.go(`/audit?actor=${leaver}&when=days30`);
        await h.sees(h.word('audit.erasedPerson'));
        if ((await h.page.locator('main').innerText()).includes('Huda')) throw new Error('the name is still there');
      },
    ],
    [
      'make an export and take it along',
      async (h) => {
        await h.go('/audit/exports');
        await h.press('exports.make');
        await h.dialog.locator('#x-format').selectOption('csv');
        await h.dialog.locator('#x-action').fill('audit.');
        await h.press('exports.go', h.dialog);
        const download = h.page.waitForEvent('download');
        await h.page.getByRole('link', { name: h.word('exports.take') }).click();
        const text = readFileSync(await (await download).path(), 'utf8');
        const [made] = (await h.get('/v1/audit/exports')).data;
        if (made.format !== 'csv') throw new Error(JSON.stringify(made));
        if (!text.includes('audit.hold')) throw new Error(`the file does not hold the hold: ${text.slice(0, 400)}`);
      },
    ],
  ]);
}
