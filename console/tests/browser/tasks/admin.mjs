// SPDX-License-Identifier: Apache-2.0
// admin.mjs - the tenant administrator's day: somebody is invited, somebody gets a role, a queue gets more, a token ends.
import { task } from '../steps.mjs';

async function seed(t) {
  await t.platform('POST', `/v1/tenants/${t.ids.tenant}/quota-rules`, { resource: 'slots', nominal: 40 });
  for (const lang of ['en', 'ar'])
    for (const by of ['pointer', 'keys']) {
      const name = (of) => `${of}-${lang}-${by}`;
      await t.tenant('POST', '/v1/users', { name: name('clerk'), kind: 'person', roles: ['viewer'] });
      await t.tenant('POST', '/v1/api-tokens', { name: name('leaked'), expires_in_days: 30 });
      const rule = { place: 'queue', queue: name('night'), resource: 'slots', nominal: 2 };
      await t.tenant('POST', '/v1/quota-rules', rule);
    }
}
const row = (s, name) => s.page.getByRole('row').filter({ hasText: name });
const found = async (t, what, path, is) => {
  if (!(await t.tenant('GET', path)).data.some(is)) t.fault('task admin', `${what} did not happen`);
};

await task(
  'admin',
  { pointer: 19, keys: 19 },
  async (s, t) => {
    const dialog = () => s.page.getByRole('dialog').last();
    const guest = s.own('guest');
    await s.click('link', s.word('nav.members'));
    await s.click('button', s.word('nav.invite'));
    await s.fill(s.word('col.name'), guest, { inside: dialog() });
    await s.click('checkbox', s.word('role.ml-engineer'), { inside: dialog() });
    await s.click('button', s.word('nav.invite'), { inside: dialog() });
    const link = await s.page.getByRole('textbox', { name: s.word('members.invitation') }).inputValue();
    if (!/\/accept\?tenant=palm#token=flj_/.test(link)) t.fault(s.page.where, `no link to hand over: ${link}`);
    await s.click('button', s.word('confirm.kept'));

    const clerk = s.own('clerk');
    await s.click('button', s.word('members.grant'), { inside: row(s, clerk) });
    await s.choose(s.word('members.role'), s.word('role.ml-engineer'), { inside: dialog() });
    await s.click('button', s.word('members.grant'), { inside: dialog() });
    await row(s, clerk).getByText(s.word('role.ml-engineer')).waitFor({ timeout: 30_000 });

    const queue = s.own('night');
    await s.click('link', s.word('nav.quotas'));
    await s.click('tab', s.word('usage.tab_rules'));
    await s.click('button', s.word('rules.edit'), { inside: row(s, queue) });
    await s.see('text', s.word('rules.ceiling', { n: '40' }));
    await s.fill(s.word('rules.nominal'), '5', { inside: dialog() });
    await s.click('button', s.word('act.save'), { inside: dialog() });
    await dialog().waitFor({ state: 'detached' });

    const token = s.own('leaked');
    await s.click('link', s.word('nav.tokens'));
    await s.click('tab', s.word('tokens.everybody'));
    await s.click('button', s.word('tokens.revoke'), { inside: row(s, token) });
    await s.fill(s.word('confirm.type', { name: `\u2068${token}\u2069` }), token, { inside: dialog() });
    await s.click('button', s.word('tokens.revoke'), { inside: dialog() });
    await row(s, token).getByText(s.word('value.revoked')).waitFor({ timeout: 30_000 });

    await found(t, 'the invitation', '/v1/invitations?page_size=200', (i) => i.name === guest && i.state === 'OPEN');
    await found(t, 'the role', '/v1/users?page_size=200', (u) => u.name === clerk && u.roles.includes('ml-engineer'));
    await found(t, 'the quota', '/v1/quota-rules?page_size=200', (r) => r.queue === queue && r.nominal === 5);
    await found(t, 'the end of the token', '/v1/api-tokens?state=revoked&page_size=200', (x) => x.name === token);
  },
  { seed },
);
