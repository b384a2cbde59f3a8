// SPDX-License-Identifier: Apache-2.0
// acts-people.mjs - dialogs that are sent, not only looked at: each act goes through its page in a real browser, and the API is asked what
// has become of it. ONLY=tokens,members does only these.
import { join } from 'node:path';
import { programs } from './acts/programs.mjs';
import { smaller } from './acts/models.mjs';
import { members, projects, services, tokens } from './acts/access.mjs';
import { CACHE_MS, directory, enrolment, glass, issuers, security, signOn } from './acts/identity.mjs';
import { uploads } from './acts/uploads.mjs';
import { data, deployments, jobs, prices, quotas } from './acts/work.mjs';
import { run } from './platform.mjs';

const all = {
  tokens,
  services,
  members,
  projects,
  signOn,
  issuers,
  directory,
  security,
  enrolment,
  glass,
  quotas,
  prices,
  data,
  uploads,
  deployments,
  jobs,
  programs,
  smaller,
};
// Nobody of the seed that acts here is a compliance officer, so only who is invited has to set up a second factor.
const env = { FALAJ_AUTH_REQUIRE_MFA_ROLES: 'compliance-officer', FALAJ_API_TOKEN_CACHE_MS: String(CACHE_MS) };
const only = process.env.ONLY?.split(',');

await run(
  'acts-people',
  async (t) => {
    let n = 0;
    for (const [name, act] of Object.entries(all).filter(([k]) => !only || only.includes(k))) {
      const began = Date.now();
      try {
        await act(t);
        n++;
      } catch (e) {
        const pages = t.browser.contexts().flatMap((c) => c.pages());
        for (const [i, page] of pages.entries())
          await page.screenshot({ path: join(t.shots, `acts-${name}-${i}.png`) }).catch(() => undefined);
        t.fault(name, [...pages.map((p) => p.where), e instanceof Error ? e.stack : String(e)].join('\n'));
      }
      for (const context of t.browser.contexts()) await context.close();
      console.log(`${name}: ${((Date.now() - began) / 1000).toFixed(1)} s`);
    }
    if (n === 0) t.fault('acts-people', 'nothing was done');
  },
  { env },
);
