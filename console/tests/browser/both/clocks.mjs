// SPDX-License-Identifier: Apache-2.0
// clocks.mjs - the register of legal clocks: counted on the officer's first page, opened, extended and closed, found by its
// state, and chosen for mails by who manages it alone.
import { settled } from '../checks.mjs';
import { as } from '../person.mjs';

const DAY = 86_400_000;
const at = (days) => new Date(Date.now() + days * DAY).toISOString();
const day = (days) => at(days).slice(0, 10);
const own = (h) => `case ${h.lang} 7`;

/** One that is late, one that is due this week, one that has time. */
export async function seed(t) {
  const officer = await as(t, t.people.compliance.name);
  const open = (reference, opened_at, due_at) =>
    officer('/v1/legal-clocks', { kind: 'erasure', zone: t.ids.zone, reference, opened_at, due_at });
  await open('case late', '2026-01-01T00:00:00Z', '2026-01-31T00:00:00Z');
  await open('case soon', at(-10), at(5));
  await open('case calm', at(-1), at(60));
}

async function boxes(h) {
  const [soon, late] = [h.word('notify.clock-due-soon'), h.word('notify.clock-overdue')];
  const all = await h.page
    .getByRole('checkbox')
    .evaluateAll((list) => list.map((e) => e.labels[0]?.textContent.trim()));
  return { soon: all.includes(soon), late: all.includes(late) };
}

export default [
  {
    name: 'legal clocks on the first page',
    as: 'compliance',
    path: '/',
    expected: [404], // the log has no signed head in its first minute
    act: async (h) => {
      await h.sees(h.word('overview.legalClocksSoon', { overdue: '1', soon: '1', days: '7' }));
      await h.click('link', new RegExp(h.word('overview.legalClocks')), { inside: h.page.locator('main') });
      await settled(h.page);
      const first = await h.row(/case/).innerText();
      h.must(first.includes('case late'), `the first due does not stand first: ${first}`);
      h.must(first.includes(h.word('value.OVERDUE')), `what is late is not marked so: ${first}`);
    },
  },
  {
    name: 'a legal clock from its beginning to its end',
    as: 'compliance',
    path: '/audit/legal-clocks?new=clock',
    act: async (h, t) => {
      const reference = own(h);
      await h.dialog.waitFor();
      h.expect(422);
      await h.dialog.locator('[name=reference]').fill(reference);
      await h.dialog.locator('button[type=submit]').click();
      await h.dialog.locator('[name=due_at][aria-invalid=true]').waitFor(); // the zone's law names no term: the field is told
      h.expect();
      const due = h.dialog.locator('[name=due_at]');
      await due.fill('2027-02-30'); // no such day: never the second of March
      await h.dialog.locator('button[type=submit]').click();
      await h.dialog.getByText(h.word('field.day')).waitFor();
      h.must(await due.evaluate((e) => e === document.activeElement), 'the focus is elsewhere');
      const eastern = day(20).replace(/\d/g, (d) => '٠١٢٣٤٥٦٧٨٩'[d]);
      await h.submit({ kind: 'access', zone: t.ids.zone, due_at: h.lang === 'ar' ? eastern : day(20) });
      await h.press('terms.extend', h.row(reference));
      await h.submit({ due_at: day(30), reason: 'many requests' });
      await h.press('terms.close', h.row(reference));
      await h.submit({ note: 'answered' });
      await h.row(reference, h.word('value.CLOSED')).waitFor();
      const left = await h
        .row(reference)
        .getByRole('button', { name: h.word('terms.close'), exact: true })
        .count();
      h.must(left === 0, 'what is closed can be closed again');
      const [clock] = (await h.get('/v1/legal-clocks?state=CLOSED')).data.filter((c) => c.reference === reference);
      // The person's own day in Dubai, to its end.
      h.must(clock?.note === 'answered' && clock.due_at.startsWith(`${day(30)}T19:59`), JSON.stringify(clock));
      await h.go('/audit/legal-clocks?state=OVERDUE');
      h.must((await h.rows('case').count()) === 1, 'the state is no filter');
      await h.sees('case late');
    },
  },
  {
    name: 'mails of legal clocks for who manages them',
    as: 'compliance',
    path: '/notifications?tab=own',
    expected: [404], // nothing was chosen yet
    act: async (h) => {
      const seen = await boxes(h);
      h.must(seen.soon && seen.late, `not offered: ${JSON.stringify(seen)}`);
      const box = h.page.locator('[name="on_clock-overdue"]');
      // A second code is not sent within a minute: the second language looks at what the first has chosen.
      if (!(await box.isChecked())) {
        await h.page.locator('[name=address]').fill('layla@palm.example');
        await box.setChecked(true);
        await h.press('act.save');
        await h.sees(h.word('notify.saved'));
      }
      const chosen = (await h.get('/v1/me/notifications')).events;
      h.must(chosen.includes('clock-overdue'), `chosen: ${chosen.join(' ')}`);
    },
  },
  {
    name: 'no mails of legal clocks for others',
    as: 'engineer',
    path: '/notifications?tab=own',
    expected: [404],
    act: async (h) => {
      const seen = await boxes(h);
      h.must(!seen.soon && !seen.late, `offered: ${JSON.stringify(seen)}`);
    },
  },
];
