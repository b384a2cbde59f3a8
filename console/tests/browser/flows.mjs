// SPDX-License-Identifier: Apache-2.0
// flows.mjs - what a person goes through that no single page shows: the way in, a session that ends under a half filled form, keys.
import { join } from 'node:path';
import { accessible, settled } from './checks.mjs';
import { PASSWORD, run, setPrefs } from './platform.mjs';
import { paperWays } from './ways/paper.mjs';
import { shellWays } from './ways/shell.mjs';
import { signatureWays } from './ways/signatures.mjs';
import { wordWays } from './ways/words.mjs';

async function wayIn(t) {
  const page = await t.open();
  page.where = 'way in';
  page.expected = [401];
  await page.goto(`${t.base}/datasets?page_size=50`);
  await settled(page, '.login-card form');
  const type = async (password) => {
    await page.fill('#f-tenant', 'palm');
    await page.fill('#f-name', 'Mariam');
    await page.fill('#f-password', password);
    await page.press('#f-password', 'Enter');
  };
  await type('not the password at all');
  await page.waitForSelector('.login-card [class*="alert"]');
  if ((await page.inputValue('#f-name')) !== 'Mariam') t.fault(page.where, 'a refused login lost what was typed');
  await type(PASSWORD);
  await page.waitForSelector('#page-title');
  if (!page.url().endsWith('/datasets?page_size=50')) t.fault(page.where, `led to ${page.url()}`);
  return page;
}

/** The session ends elsewhere while a form is half filled: the login comes over it, and what was typed is sent. */
async function sessionOver(t, page) {
  page.where = 'session over';
  await page.goto(`${t.base}/datasets`);
  await page.click('.page-head .pf-m-primary');
  await page.fill('#f-name', 'kept-over-login');
  await page.fill('#f-classes', '3');
  await page.context().clearCookies();
  await page.click('[role=dialog] button[type=submit]');
  await page.waitForSelector('#f-tenant');
  await page.screenshot({ path: join(t.shots, 'session-over.png') });
  const login = page.locator('[role=dialog]').last();
  await login.locator('#f-password').fill(PASSWORD);
  await login.locator('#f-password').press('Enter');
  await page.waitForURL(/\/datasets\/dst_/, { timeout: 30_000 });
  await page
    .waitForFunction(() => document.getElementById('page-title')?.textContent?.includes('kept-over-login'), undefined, {
      timeout: 30_000,
    })
    .catch(() => t.fault(page.where, 'what was typed was not sent after the login'));
}

async function keys(t, page) {
  page.where = 'keys';
  await page.goto(`${t.base}/deployments/${t.ids.served}`);
  await settled(page);
  await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
  await page.keyboard.press('g');
  await page.keyboard.press('j');
  await page.waitForURL(/\/jobs$/);
  await page.keyboard.press('?');
  await page.waitForSelector('[role=dialog] kbd');
  await accessible(t, page, page.where);
  await page.keyboard.press('Escape');
  await page.click('[aria-expanded][aria-label*="API"]');
  await page.waitForSelector('.calls');
  await accessible(t, page, 'drawer');
  await page.screenshot({ path: join(t.shots, 'drawer.png') });
}

await run('flows', async (t) => {
  if (!process.env.WAYS) {
    const page = await wayIn(t);
    await setPrefs(page, { lang: 'en', theme: 'light' });
    await sessionOver(t, page);
    await keys(t, page);
  }
  if (process.env.WAYS === 'paper') return paperWays(t);
  await shellWays(t);
  if (process.env.WAYS) return undefined;
  await wordWays(t);
  await signatureWays(t);
  await paperWays(t);
  return undefined;
});
