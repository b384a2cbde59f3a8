// SPDX-License-Identifier: Apache-2.0
// signatures.mjs - a browser without Ed25519, and a page without cryptography: what is not checked is said, the rest is checked all the
// same, and the command that is named checks it.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, arabic, settled } from '../checks.mjs';
import { setPrefs, until } from '../platform.mjs';
import { word } from '../steps.mjs';

const WITHOUT = `{
  const real = crypto.subtle.importKey.bind(crypto.subtle);
  SubtleCrypto.prototype.importKey = (format, key, algorithm, ...rest) =>
    (algorithm?.name ?? algorithm) === 'Ed25519'
      ? Promise.reject(new DOMException('Algorithm: Unrecognized name', 'NotSupportedError'))
      : real(format, key, algorithm, ...rest);
}`;

/** A page whose browser, and whose workers, know no Ed25519. */
async function without(t, lang) {
  const page = await t.open('compliance');
  page.where = `without Ed25519 ${lang}`;
  await setPrefs(page, { lang, theme: 'light' });
  await page.addInitScript(WITHOUT);
  await page.route(/\/audit-verify\.worker-[\w-]+\.js$/, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: `${WITHOUT}\n${await answer.text()}` });
  });
  await page.goto(`${t.base}/audit/verify`);
  await settled(page);
  return page;
}
const commands = (page, inside) =>
  page.locator(`${inside} .cli-line input`).evaluateAll((all) => all.map((i) => i.value));

export async function signatureWays(t) {
  await until('a signed head', () => t.tenant('GET', '/v1/audit/head').catch(() => undefined));
  for (const lang of ['en', 'ar']) {
    const page = await without(t, lang);
    const must = (is, what) => is || t.fault(page.where, what);
    await page.getByText(word(lang, 'verify.able_no')).waitFor();
    must(
      (await commands(page, 'main .block')).join('; ') ===
        'falaj audit export audit.jsonl; falaj-verify --key ZONE-AUDIT.pem audit.jsonl',
      'the commands that check the signature are not named',
    );
    await page.getByRole('button', { name: word(lang, 'verify.start') }).click();
    await page.waitForSelector('.verdict .pf-m-warning', { timeout: 30_000 });
    const said = await page.locator('.verdict').first().innerText();
    must(said.includes(word(lang, 'verify.signature_unchecked')), `the verdict does not say it: ${said.slice(0, 200)}`);
    must(!said.includes(word(lang, 'verify.signature_pinned')), 'a signature is said to be good');
    await arabicOf(t, page, lang);
    await accessible(t, page, page.where);
    await page.screenshot({ path: join(t.shots, `without-ed25519-${lang}.png`), fullPage: true });
    if (lang === 'en') await whole(t, page, must);
    await page.context().close();
  }
}
const arabicOf = (t, page, lang) => (lang === 'ar' ? arabic(t, page, page.where) : undefined);

/** What a hash finds is found without signatures; and the command that is shown says of the whole log that it is whole. */
async function whole(t, page, must) {
  const [log, key] = await page.evaluate(async () => {
    const keys = await (await fetch('/v1/audit/keys')).json();
    return [await (await fetch('/v1/audit/export?from=1')).text(), keys.data[0].public_key];
  });
  const hex = Buffer.from(key, 'base64').toString('hex');
  const bad = log.replace(/("action":"[a-z_.]+)"/, '$1x"');
  must(bad !== log, 'no event of the log was changed for the test');
  await page.fill('#b-key', hex);
  const judge = async (name, text, kind) => {
    await page.setInputFiles('.drop input', { name, mimeType: 'application/jsonl', buffer: Buffer.from(text) });
    await page.locator(`.verdict ${kind}`).last().waitFor({ timeout: 30_000 });
    await page.locator('.verdict').last().getByRole('textbox').first().waitFor();
  };
  await judge('changed.jsonl', bad, '.pf-m-danger');
  await judge('my log.jsonl', log, '.pf-m-warning');
  const shown = (await commands(page, '.verdict')).at(-1);
  must(shown === `falaj-verify --key ${hex} 'my log.jsonl'`, `the command is ${shown}`);
  writeFileSync(join(t.shots, 'my log.jsonl'), log);
  const ran = spawnSync('bash', ['-c', shown], {
    cwd: t.shots,
    env: { PATH: `${t.bin}:${process.env.PATH}` },
    encoding: 'utf8',
  });
  must(ran.status === 0, `the command that is shown ends with ${ran.status}: ${ran.stdout}${ran.stderr}`);
}
