// SPDX-License-Identifier: Apache-2.0
// compliance.mjs - the compliance officer's question: who read data set D of late? Found, proven in the browser, taken along as a bundle,
// and that bundle checked without the platform by both offline programs; then a changed copy of it, which all three must refuse.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PASSWORD, until } from '../platform.mjs';
import { task } from '../steps.mjs';

const dir = mkdtempSync(join(tmpdir(), 'falaj-evidence-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));

/** Omar signs in and reads the content; the officer has read nothing and cannot. */
async function seed(t) {
  const json = { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() };
  const login = await fetch(`${t.base}/v1/auth/login`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ tenant: 'palm', name: t.people.engineer.name, password: PASSWORD }),
  });
  const cookie = login.headers
    .getSetCookie()
    .map((c) => c.split(';')[0])
    .join('; ');
  const read = await fetch(`${t.base}/v1/datasets/${t.ids.set}/versions/1/content`, { headers: { cookie } });
  if (!read.ok) throw new Error(`the engineer cannot read: ${read.status}`);
  await read.arrayBuffer();
  await until('a signed head', () => t.tenant('GET', '/v1/audit/head').catch(() => undefined));
  await until('the event', async () => {
    const page = await t.tenant('GET', '/v1/audit/events?action=dataset.content.read&page_size=5');
    return page.data.some((e) => e.actor_name === t.people.engineer.name);
  });
}

function offline(t, file, key) {
  const pinned = join(dir, 'zone.key');
  writeFileSync(pinned, `${key}\n`);
  const program = spawnSync(join(t.bin, 'falaj'), ['audit', 'verify', '--key', pinned, file], { encoding: 'utf8' });
  const python = spawnSync('python3', [join(t.root, 'docs/verify-audit.py'), '--key', key, file], { encoding: 'utf8' });
  return { falaj: program.status, python: python.status, said: `${program.stdout}${program.stderr}${python.stdout}` };
}

await task(
  'compliance',
  { pointer: 11, keys: 11 },
  async (s, t) => {
    const { page } = s;
    await s.click('link', s.word('nav.audit'));
    await s.fill(s.word('audit.action'), 'dataset.content.read');
    await s.fill(s.word('audit.resource'), t.ids.set);
    // This month, not the last: the log takes its times from its own clock, so a test cannot have made events of last month.
    await s.choose(s.word('when.when'), s.word('when.month'));
    await s.click('button', s.word('audit.show'));
    await s.see('link', new RegExp(t.people.engineer.name));

    await s.click('link', s.word('audit.verifyThis'));
    await s.click('button', s.word('verify.start'));
    const verdict = page.locator('.verdict .pf-m-success');
    await verdict.waitFor({ timeout: 30_000 });

    await s.click('link', s.word('audit.exports'));
    await s.click('button', s.word('exports.make'));
    await s.click('button', s.word('exports.go'), { inside: page.getByRole('dialog') });
    const download = page.waitForEvent('download');
    await s.click('link', s.word('exports.take'));
    const file = join(dir, s.own('bundle.jsonl'));
    await (await download).saveAs(file);

    const keys = await t.tenant('GET', '/v1/audit/keys');
    const key = Buffer.from(keys.data[0].public_key, 'base64').toString('hex');
    const good = offline(t, file, key);
    if (good.falaj !== 0 || good.python !== 0) t.fault(page.where, `an honest bundle is refused: ${good.said}`);
    const text = readFileSync(file, 'utf8');
    if (!text.includes('"dataset.content.read"'))
      t.fault(page.where, 'the bundle does not hold the act that was looked for');
    writeFileSync(`${file}.bad`, text.replace('"action":"dataset.content.read"', '"action":"dataset.content.reed"'));
    const bad = offline(t, `${file}.bad`, key);
    if (bad.falaj !== 2 || bad.python !== 2) t.fault(page.where, `a changed bundle passes: ${bad.said}`);
    if (!/edited/.test(bad.said)) t.fault(page.where, `the damage is not named: ${bad.said}`);
  },
  { seed },
);
