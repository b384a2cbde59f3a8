// SPDX-License-Identifier: Apache-2.0
// keys.mjs - the life of a tenant's key by the page alone: a new version, one disabled and let in again, one brought from outside, one
// whose destruction is asked for, approved and called off, and the lowest version that still opens.
import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';
import { until } from '../platform.mjs';
import { acts } from '../hand.mjs';

/** The recipe of docs/byok.md: 32 random bytes, sealed to the zone's point for one zone and tenant. */
function seal(point, zone, tenant) {
  const ours = createECDH('prime256v1');
  const e = ours.generateKeys();
  const info = Buffer.concat([Buffer.from('falaj-import-v1'), e, point]);
  const k = Buffer.from(hkdfSync('sha256', ours.computeSecret(point), '', info, 32));
  const field = (b) => Buffer.concat([Buffer.from([0, 0, 0, b.length]), b]);
  const iv = randomBytes(12);
  const gcm = createCipheriv('aes-256-gcm', k, iv);
  gcm.setAAD(Buffer.concat(['falaj-import-v1', zone].map((s) => field(Buffer.from(s))).concat(field(tenant))));
  const sealed = Buffer.concat([iv, gcm.update(randomBytes(32)), gcm.final(), gcm.getAuthTag()]);
  return { ephemeral_public: e.toString('base64'), sealed_key: sealed.toString('base64') };
}

export async function keys(t, admin, officer) {
  const { zone } = t.ids;
  const path = `/keys/${zone}`;
  const key = () => t.tenant('GET', `/v1${path}`);
  const version = async (n) => (await t.tenant('GET', `/v1${path}/versions`)).data.find((v) => v.key_version === n);
  const isIn = (n, state) => until(`version ${n} ${state}`, async () => (await version(n))?.state === state, 10_000);
  const moved = (n) =>
    until(`data keys under version ${n}`, async () => {
      const [last] = (await t.tenant('GET', `/v1${path}/rewraps?page_size=1`)).data;
      return last?.to_version === n && last.state === 'DONE';
    });
  const ofVersion = (h, n) => h.row(new RegExp(`^\\D*${n}\\D`));
  await acts(t, admin, [
    [
      'rotate',
      async (h) => {
        await h.go(path);
        await h.press('keyring.rotate');
        await h.submit();
        await h.page.locator('.meter').first().waitFor();
        await h.sees(h.word('keyring.move', { version: 2 }));
        await moved(2);
        await h.sees(h.word('keyring.rewrap_DONE'));
        if ((await key()).primary_version !== 2) throw new Error('version 2 is not primary');
      },
    ],
    [
      'disable and enable a version',
      async (h) => {
        await h.confirm('keyring.disable', `${zone} 1`, { inside: ofVersion(h, 1) });
        await isIn(1, 'DISABLED');
        await h.press('keyring.enable', ofVersion(h, 1));
        await isIn(1, 'DECRYPT_ONLY');
        await ofVersion(h, 1).getByText(h.word('value.DECRYPT_ONLY')).waitFor();
      },
    ],
    [
      'bring an own key',
      async (h) => {
        await h.press('keyring.import');
        const lines = h.dialog.locator('ol.steps input');
        const [point, tenant] = [
          await lines.nth(0).inputValue(),
          await h.dialog.locator('.tenant-bytes input').inputValue(),
        ];
        await h.submit(seal(Buffer.from(point, 'base64'), zone, Buffer.from(tenant, 'hex')));
        await isIn(3, 'PRIMARY');
        if ((await version(3)).origin !== 'imported') throw new Error(JSON.stringify(await version(3)));
        await moved(3);
      },
    ],
    [
      'ask for the destruction of a version',
      async (h) => {
        await h.go(path);
        await h.confirm('keyring.destroy', `${zone} 1`, { inside: ofVersion(h, 1), reason: 'no longer needed' });
      },
    ],
  ]);
  await acts(t, officer, [
    ['approve the destruction', (h) => h.approve(t.tenant, 'key.destroy', undefined, { by: 'Mariam' })],
  ]);
  await acts(t, admin, [
    [
      'call the destruction off',
      async (h) => {
        await isIn(1, 'DESTROY_SCHEDULED');
        await h.go(path);
        await h.press('keyring.cancel', ofVersion(h, 1));
        await until('the destruction to be off', async () => (await version(1)).state !== 'DESTROY_SCHEDULED', 10_000);
      },
    ],
    [
      'set the lowest version',
      async (h) => {
        await h.press('keyring.setMin');
        await h.submit({ min_version: '2' });
        const destroy = ofVersion(h, 3).getByRole('button', { name: h.word('keyring.destroy'), exact: true });
        if ((await destroy.count()) > 0) throw new Error('the primary version is offered for destruction');
        if ((await key()).min_version !== 2) throw new Error(JSON.stringify(await key()));
      },
    ],
  ]);
}
