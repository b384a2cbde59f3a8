// SPDX-License-Identifier: Apache-2.0
// people.mjs - the ways in, members, tokens, settings.
export async function seed(t) {
  const waits = await t.call('', 'POST', '/v1/auth/device', { client: 'falaj on omar-laptop' });
  t.ids.userCode = waits.user_code;
}

export default [
  {
    name: 'login-refused',
    path: '/login?error=denied&tenant=palm',
    as: 'nobody',
    wait: '.login-card form',
    expected: [401],
  },
  { name: 'accept', path: '/accept?tenant=palm#token=flj_inv_seen', as: 'nobody', wait: '.login-card form' },
  {
    name: 'accept-weak',
    path: '/accept?x=1',
    as: 'nobody',
    wait: '.login-card form',
    act: async (page) => {
      await page.fill('#f-password', 'a heron by the wheel');
      await page.fill('#f-again', 'a heron');
    },
  },
  { name: 'device', path: (ids) => `/device?user_code=${ids.userCode}`, as: 'engineer' },
  {
    name: 'device-decide',
    path: (ids) => `/device?user_code=${ids.userCode}`,
    as: 'engineer',
    act: async (page) => {
      await page.click('.narrow-card button[type=submit]');
      await page.waitForSelector('.narrow-card dl');
    },
  },
  { name: 'members', path: '/members', as: 'admin' },
  { name: 'tokens', path: '/tokens', as: 'admin' },
  { name: 'settings', path: '/settings', as: 'admin' },
  {
    name: 'settings-enrol',
    path: '/settings',
    as: 'viewer',
    act: async (page) => {
      await page.click('#factor button');
      await page.waitForSelector('.qr');
    },
  },
];
