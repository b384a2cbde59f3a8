// SPDX-License-Identifier: Apache-2.0
// two-people.mjs - an officer whose account the requester made: the page says why the approval does not count and offers no
// button that would be refused, in both languages; the API refuses it too. Separation is by people here, as in production.
import { sql, uuid } from '../db.mjs';
import { Hand, invite } from '../hand.mjs';
import { PASSWORD, run, setPrefs } from '../platform.mjs';

const ZONE = 'ae-dxb-1';

await run(
  'two-people',
  async (t) => {
    await t.platform('POST', '/v1/zones', { code: ZONE, name: 'Dubai', country: 'AE' });
    const made = await t.platform('POST', '/v1/tenants', { name: 'palm', home_zone: ZONE });
    const admin = (...rest) => t.call(made.admin_token, ...rest);
    await invite(t, 'officer', admin, 'palm', 'Noor', 'viewer');
    const noor = (await admin('GET', '/v1/users?page_size=200')).data.find((u) => u.name === 'Noor');
    // As an older release let an administrator do; today appointing an officer takes two people itself.
    sql(t, `UPDATE role_binding SET role = 'compliance-officer' WHERE user_id = '${uuid(noor.user_id)}'`);
    const asked = await admin('POST', `/v1/keys/${ZONE}/destroy`, { reason: 'the tenant leaves' });

    const h = await Hand.of(t, 'officer');
    for (const lang of ['en', 'ar']) {
      await setPrefs(h.page, { lang, theme: 'light' });
      const words = (await import('../../../src/locales/' + lang + '/approvals.json', { with: { type: 'json' } }))
        .default;
      await h.page.goto(`${t.base}/approvals?state=PENDING`);
      const why = h.page.getByTitle(words.why_account);
      await why.first().waitFor();
      if ((await h.page.getByRole('button', { name: words.approve, exact: true, disabled: false }).count()) > 0)
        h.fault(`${lang}: the approval is offered`);
    }
    const seen = await h.get(`/v1/approvals/${asked.approval_id}`);
    h.same('what the API says', [seen.counts, seen.why_not], [false, 'account']);
    h.page.expected = [403];
    const status = await h.page.evaluate(
      async ([id, body]) => {
        const login = await fetch('/v1/auth/login', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() },
          body: JSON.stringify(body),
        });
        const headers = {
          'content-type': 'application/json',
          'idempotency-key': crypto.randomUUID(),
          'x-csrf-token': (await login.json()).csrf_token,
        };
        return (await fetch(`/v1/approvals/${id}/approve`, { method: 'POST', headers, body: '{}' })).status;
      },
      [asked.approval_id, { tenant: 'palm', name: 'Noor', password: PASSWORD }],
    );
    h.same('an approval all the same', status, 403);
    h.same('the request', (await admin('GET', `/v1/approvals/${asked.approval_id}`)).state, 'PENDING');
  },
  { furnished: false, env: { FALAJ_APPROVAL_SEPARATION: 'people' } },
);
