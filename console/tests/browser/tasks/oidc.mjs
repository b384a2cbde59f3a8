// SPDX-License-Identifier: Apache-2.0
// oidc.mjs - the ways in, in a real browser: through a certified OpenID provider by the button of the login, by an invitation whose token
// stays nowhere, with an authenticator set up from what the picture holds, and a program let in by its code.
//
// The provider is the one of tests/http, on loopback in this process; without its Node packages the test is skipped.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { settled } from '../checks.mjs';
import { PASSWORD, root, run, setPrefs } from '../platform.mjs';
import { word } from '../steps.mjs';
import { totp } from '../totp.mjs';

let Provider;
try {
  const from = createRequire(join(root, 'tests/http/package.json'));
  Provider = (await import(pathToFileURL(from.resolve('oidc-provider')).href)).default;
} catch {
  console.log('skipped: oidc-provider of tests/http is not installed; run npm ci in tests/http');
  process.exit(77);
}

async function startProvider(t) {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(url, {
    clients: [
      {
        client_id: 'falaj',
        client_secret: 'a secret of the test',
        redirect_uris: [`${t.base}/v1/auth/oidc/callback`],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    pkce: { required: () => true },
    conformIdTokenClaims: false,
    scopes: ['openid', 'profile'],
    claims: { openid: ['sub', 'groups'], profile: ['preferred_username'] },
    cookies: { keys: ['test'] },
    findAccount: (_c, id) => ({
      accountId: id,
      claims: () => Promise.resolve({ sub: id, preferred_username: `sso-${id}`, groups: ['ml-team'] }),
    }),
    interactions: { url: (_c, i) => `/interaction/${i.uid}` },
    features: { devInteractions: { enabled: false } },
  });
  const callback = provider.callback();
  let isOpen = true;
  server.on('request', (request, response) => {
    if (!request.url.startsWith('/interaction/')) return void callback(request, response);
    return void (async () => {
      if (!isOpen) {
        const denied = { error: 'access_denied', error_description: 'not today' };
        return provider.interactionFinished(request, response, denied, { mergeWithLastSubmission: false });
      }
      const details = await provider.interactionDetails(request, response);
      const grant = new provider.Grant({ accountId: 'amal', clientId: details.params.client_id });
      grant.addOIDCScope('openid profile');
      const result = { login: { accountId: 'amal' }, consent: { grantId: await grant.save() } };
      return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    })();
  });
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, stop, refuse: () => (isOpen = false) };
}

/** Signed out at a deep link, through the button, and back at that link as the person the provider named. */
async function throughProvider(t, lang) {
  const idp = await startProvider(t);
  await t.tenant('POST', '/v1/identity-providers', {
    name: `staff-${lang}`,
    issuer: idp.url,
    client_id: 'falaj',
    client_secret: 'a secret of the test',
    create_users: lang === 'en',
    group_roles: [{ group: 'ml-team', role: 'ml-engineer' }],
  });
  const page = await t.open();
  page.where = `provider ${lang}`;
  page.context().on('page', () => t.fault(page.where, 'a second window opened'));
  page.also = [idp.url];
  await page.goto(`${t.base}/falaj.svg`);
  await setPrefs(page, { lang, theme: 'light' });
  page.expected = [401];
  if (lang === 'ar') idp.refuse();
  await page.goto(`${t.base}/datasets?page_size=50`);
  await settled(page, '.login-card form');
  await page.fill('#f-tenant', 'palm');
  const button = page.getByRole('button', { name: new RegExp(`staff-${lang}`) });
  await button.waitFor();
  await page.screenshot({ path: join(t.shots, `login-ways-${lang}.png`) });
  await button.click();
  if (lang === 'en') {
    await page.waitForURL(`${t.base}/datasets?page_size=50`, { timeout: 60_000 });
    await settled(page);
    const me = await page.evaluate(() => fetch('/v1/me').then((r) => r.json()));
    if (me.name !== 'sso-amal' || !me.roles.includes('ml-engineer'))
      t.fault(page.where, `came in as ${JSON.stringify(me)}`);
  } else {
    await page.waitForURL(/\/login\?error=denied/, { timeout: 60_000 });
    await page.getByText(word(lang, 'login.error_denied')).waitFor();
    await page.fill('#f-tenant', 'palm');
    await page.fill('#f-name', 'Omar');
    await page.fill('#f-password', PASSWORD);
    await page.press('#f-password', 'Enter');
    await page.waitForURL(`${t.base}/datasets?page_size=50`, { timeout: 60_000 });
  }
  await page.context().close();
  idp.stop();
}

async function signOut(page, lang) {
  await page.getByRole('button', { name: word(lang, 'shell.account') }).click();
  await page.getByRole('menuitem', { name: word(lang, 'shell.out') }).click();
}

async function byInvitation(t, lang) {
  const name = `guest-${lang}`;
  const made = await t.tenant('POST', '/v1/invitations', { name, roles: ['viewer'] });
  const page = await t.open();
  page.where = `invitation ${lang}`;
  const sent = [];
  page.on('request', (r) => sent.push(`${r.url()} ${r.headers()['referer'] ?? ''}`));
  await page.goto(`${t.base}/falaj.svg`);
  await setPrefs(page, { lang, theme: 'light' });
  page.expected = [401, 429];
  await page.goto(`${t.base}/accept?tenant=palm#token=${made.token}`);
  await settled(page, '.login-card form');
  if (page.url() !== `${t.base}/accept?tenant=palm`) t.fault(page.where, `the address keeps ${page.url()}`);
  const cdp = await page.context().newCDPSession(page);
  const history = async () => (await cdp.send('Page.getNavigationHistory')).entries;
  if ((await history()).some((e) => e.url.includes(made.token))) t.fault(page.where, 'the history keeps the token');
  const { host } = new URL(t.base);
  if (sent.some((s) => s.replace(host, '').includes(made.token))) {
    // Chromium reports the fragment of a navigation it makes; it is never sent. Any other request that has it is a leak.
    const leaks = sent.filter((s) => s.includes(made.token) && !s.startsWith(`${t.base}/accept?tenant=palm#`));
    for (const l of leaks) t.fault(page.where, `the token went out with ${l}`);
  }
  await page.fill('#f-password', PASSWORD);
  await page.fill('#f-again', PASSWORD);
  await page.press('#f-again', 'Enter');
  await page.waitForURL(`${t.base}/`);
  await settled(page);
  // Now not even what was typed into the address is left.
  if (JSON.stringify(await history()).includes(made.token)) t.fault(page.where, 'the history has the token still');

  await page.goto(`${t.base}/settings?tab=security`);
  await settled(page);
  await page.getByRole('button', { name: word(lang, 'login.enrol') }).click();
  await page.waitForSelector('svg.qr path');
  await page.getByRole('button', { name: word(lang, 'login.cannotScan') }).click();
  const secret = await page.getByRole('textbox', { name: word(lang, 'login.secretLabel') }).inputValue();
  await page.fill('#f-code', totp(secret));
  await page.press('#f-code', 'Enter');
  await page.waitForSelector('.recovery li');
  const codes = await page.locator('.recovery li').count();
  if (codes !== 10) t.fault(page.where, `${codes} recovery codes`);
  await page.screenshot({ path: join(t.shots, `recovery-${lang}.png`) });
  await page.getByRole('button', { name: word(lang, 'confirm.kept') }).click();
  await signOut(page, lang);

  await page.waitForSelector('.login-card form');
  const signIn = async (password) => {
    await page.fill('#f-tenant', 'palm');
    await page.fill('#f-name', name);
    await page.fill('#f-password', password);
    await page.press('#f-password', 'Enter');
  };
  await signIn(PASSWORD);
  await page.waitForSelector('#f-code');
  await page.fill('#f-code', totp(secret, 1));
  await page.press('#f-code', 'Enter');
  await page.waitForSelector('#page-title');

  // Let in by a program's code.
  const waits = await t.call('', 'POST', '/v1/auth/device', { client: 'falaj on laptop' });
  const path = new URL(waits.verification_uri_complete);
  await page.goto(`${t.base}${path.pathname}${path.search}`);
  await settled(page);
  await page.getByRole('button', { name: word(lang, 'device.look') }).click();
  await page.getByRole('button', { name: word(lang, 'device.approve') }).click();
  await page.getByText(word(lang, 'device.approved')).waitFor();
  const token = await t.call('', 'POST', '/v1/auth/device/token', { device_code: waits.device_code });
  const as = await t.call(token.access_token, 'GET', '/v1/me');
  if (as.name !== name) t.fault(page.where, `the program came in as ${as.name}`);

  // Too many wrong passwords: the page says how long to wait.
  await signOut(page, lang);
  await page.waitForSelector('.login-card form');
  const locked = page.getByText(word(lang, 'login.locked'));
  for (let i = 0; i < 8 && !(await locked.isVisible()); i++) {
    const answer = page.waitForResponse((r) => r.url().endsWith('/v1/auth/login'));
    await signIn('not the password at all');
    await answer;
    await page.waitForTimeout(200);
  }
  await locked.waitFor({ timeout: 30_000 });
  await page.screenshot({ path: join(t.shots, `locked-${lang}.png`) });
  await page.context().close();
}

await run('oidc', async (t) => {
  for (const lang of ['en', 'ar']) {
    await throughProvider(t, lang);
    await byInvitation(t, lang);
  }
});
