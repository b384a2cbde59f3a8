// SPDX-License-Identifier: Apache-2.0
// pictures.mjs - the pictures of the README, taken of real pages on a real platform: node tests/browser/pictures.mjs
//
// FALAJ_BIN names the programs; ONLY=clock,passport takes some of them. They go to docs/img as they are, 1200 pixels wide.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { drawn, settled } from './checks.mjs';
import { run, setPrefs, until } from './platform.mjs';

const SIZE = { width: 1200, height: 720 };
/** A page of pages/AREA.mjs by its name, in one language and theme. */
const PICTURES = [
  { file: 'clock', area: 'jobs', page: 'clock', lang: 'en', theme: 'light' },
  { file: 'passport', area: 'data', page: 'passport', lang: 'ar', theme: 'light' },
  { file: 'proof', area: 'govern', page: 'audit-proof', lang: 'en', theme: 'dark' },
  { file: 'what-if', area: 'fleet', page: 'what-if', lang: 'en', theme: 'light', from: '.whatif-result' },
  { file: 'key', area: 'govern', page: 'key-version', lang: 'ar', theme: 'dark' },
].filter((p) => process.env.ONLY?.split(',').includes(p.file) ?? true);

/** Jobs that run for some time, and others that wait for their room. */
async function busy(t) {
  const job = (name, slots, hours) =>
    t.tenant('POST', '/v1/jobs', {
      name,
      kind: 'noop',
      slots,
      max_runtime_seconds: hours * 3600,
      spec: { sleep_ms: 600_000 },
    });
  const other = await t.platform('POST', '/v1/tenants', { name: 'pearl', home_zone: t.ids.zone });
  const theirs = { name: 'routes', kind: 'noop', slots: 2, max_runtime_seconds: 7 * 3600, spec: { sleep_ms: 600_000 } };
  const taken = await t.call(other.admin_token, 'POST', '/v1/jobs', theirs);
  await until('theirs runs', async () => {
    const now = await t.call(other.admin_token, 'GET', `/v1/jobs/${taken.job_id}`);
    return now.state === 'RUNNING';
  });
  const first = [await job('reserving model', 3, 5), await job('fraud features', 1, 9)];
  await until('both run', async () => {
    const states = await Promise.all(first.map(async (j) => (await t.tenant('GET', `/v1/jobs/${j.job_id}`)).state));
    return states.every((s) => s === 'RUNNING');
  });
  await job('credit scoring', 4, 6);
  await job('monthly report', 2, 3);
  await job('fraud training', 6, 8);
}

await run('pictures', async (t) => {
  const out = join(t.root, 'docs/img');
  mkdirSync(out, { recursive: true });
  const areas = {};
  for (const area of new Set(PICTURES.map((p) => p.area))) {
    areas[area] = await import(`./pages/${area}.mjs`);
    if (area !== 'jobs') await areas[area].seed?.(t);
  }
  if (areas.jobs) await busy(t);
  for (const p of PICTURES) {
    const row = areas[p.area].default.find((x) => x.name === p.page);
    const page = await t.open(row.as);
    page.where = p.file;
    await page.setViewportSize(SIZE);
    await page.goto(`${t.base}/falaj.svg`);
    await setPrefs(page, { lang: p.lang, theme: p.theme });
    await page.goto(t.base + (typeof row.path === 'function' ? row.path(t.ids) : row.path));
    await settled(page, row.wait);
    await row.act?.(page, t);
    if (p.from) await page.locator(p.from).first().scrollIntoViewIfNeeded();
    await page.mouse.move(0, 0);
    await drawn(page);
    const path = join(out, `console-${p.file}.png`);
    await page.screenshot({ path, animations: 'disabled' });
    console.log(`${path}: ${statSync(path).size} bytes`);
    await page.context().close();
  }
});
