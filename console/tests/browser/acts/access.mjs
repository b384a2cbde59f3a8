// SPDX-License-Identifier: Apache-2.0
// access.mjs - tokens, service accounts, members, projects: what is sent in their dialogs, and what the API then says.
import { readFileSync } from 'node:fs';
import { Hand, W } from '../hand.mjs';
import { PASSWORD } from '../platform.mjs';

const DAY = 86_400_000;

async function makeToken(h, name, { preset, days, nets } = {}) {
  await h.put('tokens.purpose', name);
  if (days) await h.put('tokens.days', String(days));
  if (preset) await h.pick('tokens.scopes', W(`tokens.preset_${preset}`));
  if (nets) await h.put('tokens.cidrs', nets);
  await h.send('nav.newToken');
  return await h.once('tokens.secret');
}

export async function tokens(t) {
  const h = await Hand.of(t, 'admin');
  await h.go('/tokens');
  await h.opens('nav.newToken');
  h.expect(400);
  await h.put('tokens.purpose', 'acts');
  await h.put('tokens.cidrs', '10.0.0.0/99');
  await h.send('nav.newToken');
  if (!(await h.refused('tokens.cidrs')).includes('network')) h.fault('the field does not say what it should be');
  const secret = await makeToken(h, 'acts', { preset: 'read', days: 7, nets: '127.0.0.0/8' });
  h.expect();
  const [made] = (await t.tenant('GET', '/v1/api-tokens?name=acts&state=active')).data;
  h.same('the network', made.cidrs, ['127.0.0.0/8']);
  const days = (Date.parse(made.expires_at) - Date.parse(made.created_at)) / DAY;
  if (Math.abs(days - 7) > 0.01) h.fault(`good for ${days} days`);
  if (!made.scopes.length || made.scopes.some((s) => !s.endsWith(':read'))) h.fault(`scopes ${made.scopes}`);
  const may = async (token) => [
    await h.status(token, 'GET', '/v1/jobs'),
    await h.status(token, 'POST', '/v1/projects', { name: 'forbidden' }),
  ];
  h.same('the token reads and no more', await may(secret), [200, 403]);

  await h.opens('nav.newToken');
  const elsewhere = await makeToken(h, 'elsewhere', { nets: '10.0.0.0/8' });
  if ((await h.status(elsewhere, 'GET', '/v1/me')) < 401) h.fault('a token of another network works here');

  await h.opens('tokens.rotate', h.row('acts'));
  await h.pick('tokens.overlap', W('tokens.hours', { count: 1 }));
  await h.put('tokens.days', '5');
  await h.send('tokens.rotate');
  const fresh = await h.once('tokens.secret');
  h.same('the old one works on', await may(secret), [200, 403]);
  h.same('the new one has its limits', await may(fresh), [200, 403]);
  const old = h.rows('acts').filter({ hasNot: h.page.getByRole('button', { name: W('tokens.rotate') }) });
  await h.confirm('tokens.revoke', 'acts', { inside: old });
  await h.dead('the revoked token', secret);
  h.same('its successor', await may(fresh), [200, 403]);
  await h.page.context().close();
}

export async function services(t) {
  const h = await Hand.of(t, 'admin');
  await h.go('/tokens?tab=services');
  await h.opens('tokens.newService');
  await h.put('col.name', 'robot');
  await h.send('tokens.newService');
  await h.gone();
  await h.opens('nav.newToken', h.row('robot'));
  const secret = await makeToken(h, 'cron', { preset: 'jobs' });
  h.same('who it is', (await t.call(secret, 'GET', '/v1/me')).name, 'robot');
  h.same('what it may', await h.status(secret, 'GET', '/v1/jobs'), 200);
  h.same(
    'what it may not',
    await h.status(secret, 'POST', '/v1/datasets', { name: 'x', label_column: 'y', classes: 2 }),
    403,
  );
  await h.confirm('tokens.endService', 'robot', { inside: h.row('robot') });
  await h.dead('the token of an ended account', secret);
  const users = (await t.tenant('GET', '/v1/users?name=robot')).data;
  h.same(
    'the account',
    users.map((u) => u.state),
    ['DEACTIVATED'],
  );
  await h.page.context().close();
}

const userOf = async (t, name) => (await t.tenant('GET', `/v1/users?name=${name}`)).data[0];

export async function members(t) {
  const h = await Hand.of(t, 'admin');
  const saif = await Hand.of(t, 'viewer');
  const { user_id: id } = await userOf(t, 'Saif');
  const path = `/members/${id}`;
  await h.go(path);
  await h.confirm('members.disable', 'Saif');
  h.same('disabled', (await userOf(t, 'Saif')).state, 'DISABLED');
  await saif.out();
  h.same('a disabled login', await saif.login('palm', 'Saif', PASSWORD), 401);
  await h.opens('members.enable');
  await h.send('members.enable');
  await h.gone();
  h.same('enabled', (await userOf(t, 'Saif')).state, 'ACTIVE');
  h.same('an enabled login', await saif.login('palm', 'Saif', PASSWORD), 200);

  await h.go(`${path}?tab=sessions`);
  await h.confirm('settings.end', 'Saif', { inside: h.page.getByRole('row').nth(1) });
  await saif.out();
  await saif.page.context().close();
  await grants(t, h, id);
  await review(t, h);
  await h.page.context().close();
}

/** As a clock of the browser's zone shows it. */
const local = (ms) => new Date(ms + 4 * 3_600_000).toISOString().slice(0, 16); // Asia/Dubai has no summer time

async function grants(t, h, id) {
  const why = async () => {
    await h.go('/members?tab=why&who=Saif&act=job:submit');
    await h.click('button', W('members.ask'));
    await h.page.locator('.chain').waitFor();
  };
  for (const [from, says] of [
    [Date.now() + DAY, 'not_yet'],
    [Date.now() - DAY, 'applies'],
  ]) {
    await h.go('/members');
    await h.opens('members.grant', h.row('Saif'));
    await h.pick('members.role', W('role.ml-engineer'));
    await h.click('button', W('members.conditions'), { inside: h.dialog });
    await h.page.fill('#c-from', local(from));
    await h.page.fill('#c-until', local(from + 3 * DAY));
    await h.send('members.grant');
    await h.gone();
    const all = (await t.tenant('GET', `/v1/role-bindings?user_id=${id}`)).data;
    const made = all.find((b) => b.role === 'ml-engineer');
    h.same('from', local(Date.parse(made?.valid_from)), local(from));
    h.same('until', local(Date.parse(made?.valid_until)), local(from + 3 * DAY));
    await why();
    await h.see('text', W(says === 'applies' ? 'members.yesWho' : 'members.noWho', { name: '\u2068Saif\u2069' }));
    const line = `${W('role.ml-engineer')}, ${W('place.tenant')}: ${W(`members.verdict_${says}`)}`;
    const lines = (await h.page.locator('.chain li').allTextContents()).map((l) => l.replace(/\s+/g, ' '));
    if (!lines.includes(line)) h.fault(`says ${lines.join(' | ')}, not ${line}`);
    if (says !== 'applies') await h.see('text', W('members.missingCondition'));
    await h.go(`/members/${id}`);
    await h.confirm('members.takeBack', 'Saif', { inside: h.page.getByRole('row', { name: W('role.ml-engineer') }) });
    await h.page.getByRole('row', { name: W('role.ml-engineer') }).waitFor({ state: 'detached' });
    const left = (await t.tenant('GET', `/v1/role-bindings?user_id=${id}`)).data;
    h.same(
      'what is left',
      left.map((b) => b.role),
      ['viewer'],
    );
  }
  await why();
  const having = ['ml-engineer', 'service-account', 'tenant-admin'].map((r) => W(`role.${r}`));
  const said = await h.page.locator('h3:has-text("What is missing") + p').textContent();
  if (!having.every((r) => said.includes(r))) h.fault(`missing: ${said}`);
}

/** RFC 4180, as far as the file needs it. */
function readCsv(text) {
  const rows = [[]];
  for (const m of text.replace(/^\uFEFF/, '').matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n|$)/g)) {
    rows.at(-1).push(m[1].startsWith('"') ? m[1].slice(1, -1).replaceAll('""', '"') : m[1]);
    if (m[2] === '\r\n') rows.push([]);
  }
  const [names, ...rest] = rows.filter((r) => r.length > 1);
  return rest.map((r) => Object.fromEntries(names.map((n, i) => [n, r[i]])));
}

async function review(t, h) {
  await h.go('/members?tab=review');
  const file = h.page.waitForEvent('download');
  await h.click('button', W('members.reviewCsv'));
  const rows = readCsv(readFileSync(await (await file).path(), 'utf8'));
  const bindings = (await t.tenant('GET', '/v1/role-bindings?page_size=200')).data;
  const users = (await t.tenant('GET', '/v1/users?page_size=200')).data;
  const line = (u, b) => [u, b.role ?? '', b.place ?? '', b.source ?? '', b.granted_at ?? b.created_at ?? ''].join(' ');
  const wanted = [
    ...bindings.map((b) => line(b.user_id, b)),
    ...users.filter((u) => !bindings.some((b) => b.user_id === u.user_id)).map((u) => line(u.user_id, {})),
  ];
  const held = rows.map((r) => (r.role ? line(r.user_id, r) : line(r.user_id, {})));
  h.same('the access review', held.sort(), wanted.sort());
  for (const u of users) {
    const r = rows.find((x) => x.user_id === u.user_id);
    h.same(`the person ${u.name}`, [r?.name, r?.kind, r?.state], [u.name, u.kind, u.state]);
  }
}

export async function projects(t) {
  const h = await Hand.of(t, 'admin');
  const find = async () => (await t.tenant('GET', '/v1/projects?page_size=200')).data.find((p) => p.name === 'acts');
  await h.go('/projects');
  await h.opens('projects.create');
  await h.put('col.short', 'acts');
  await h.put('col.shown', 'Acts');
  await h.send('projects.create');
  await h.gone();
  h.same('created', (await find())?.display_name, 'Acts');
  for (const choice of ['overwrite', 'reload']) {
    await h.opens('act.rename', h.row('acts'));
    const seen = await find();
    const theirs = `Theirs before ${choice}`;
    await h.patch(`/v1/projects/${seen.project_id}`, seen.version, { display_name: theirs });
    h.expect(412);
    await h.put('col.shown', `Mine to ${choice}`);
    await h.send('act.rename');
    await h.page.waitForSelector('.conflict tbody tr');
    const cells = await h.page.locator('.conflict tbody tr').first().locator('td').allTextContents();
    h.same('the difference', cells.slice(0, 4), [W('col.shown'), seen.display_name, theirs, `Mine to ${choice}`]);
    await h.click('button', W(`conflict.${choice}`));
    if (choice === 'reload') {
      const field = h.field(W('col.shown'), { inside: h.dialog });
      await h.page.locator('.conflict').waitFor({ state: 'detached' });
      h.same('reloaded', await field.inputValue(), theirs);
      h.expect();
      await h.put('col.shown', 'Mine after all');
      await h.send('act.rename');
    }
    await h.gone();
    h.same(choice, (await find()).display_name, choice === 'reload' ? 'Mine after all' : 'Mine to overwrite');
    h.expect();
  }
  await h.confirm('projects.close', 'acts', { inside: h.row('acts') });
  h.same('closed', (await find()).state, 'CLOSED');
  await h.page.context().close();
}
