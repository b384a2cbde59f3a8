// SPDX-License-Identifier: Apache-2.0
// shell.mjs - what opens around and over every page: palette, menus, drawers, keys, the tools of a list.
const click = (selector, wait) => async (page) => {
  await page.click(selector);
  await page.waitForSelector(wait);
};
export default [
  {
    name: 'palette',
    path: '/jobs',
    as: 'admin',
    fresh: true,
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.fill('.palette-input', 'digits');
      await page.waitForFunction(() => document.querySelectorAll('.palette-row').length > 3);
    },
  },
  { name: 'account', path: '/jobs', as: 'admin', fresh: true, act: click('.account-menu', '[role=menu]') },
  { name: 'create', path: '/jobs', as: 'admin', fresh: true, act: click('.create-menu', '[role=menu]') },
  { name: 'help', path: '/jobs', as: 'admin', fresh: true, act: click('.help-menu', '[role=menu]') },
  {
    name: 'calls',
    path: '/jobs?state=FAILED',
    as: 'admin',
    fresh: true,
    act: click('.calls-button', '.calls .cli-line'),
  },
  {
    name: 'notices',
    path: '/jobs',
    as: 'admin',
    fresh: true,
    act: click('.notices-button', '.pf-v6-c-notification-drawer'),
  },
  {
    name: 'keys-help',
    path: '/jobs',
    as: 'admin',
    fresh: true,
    act: async (page) => {
      await page.keyboard.press('?');
      await page.waitForSelector('[role=dialog] kbd');
    },
  },
  { name: 'columns', path: '/jobs', as: 'admin', fresh: true, act: click('.columns-button', '.columns-list') },
  {
    name: 'views',
    path: '/jobs?state=COMPLETED',
    as: 'admin',
    fresh: true,
    act: async (page) => {
      await page.click('.views-button');
      await page.locator('[role=menu] [role=menuitem]').nth(-2).click();
      await page.waitForSelector('#f-name');
    },
  },
];
