// SPDX-License-Identifier: Apache-2.0
// identity.mjs - the settings of an organisation: a provider, an outside issuer, a directory; and what a person sets up alone.
import { createSign, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { sql, uuid } from '../db.mjs';
import { Hand, W } from '../hand.mjs';
import { PASSWORD } from '../platform.mjs';
import { totp } from '../totp.mjs';

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = { ...pair.publicKey.export({ format: 'jwk' }), kid: 'acts-1', alg: 'RS256', use: 'sig' };

/** A provider's description and keys, on loopback. */
async function startIssuer() {
  const server = createServer((q, r) => {
    const url = `http://127.0.0.1:${server.address().port}`;
    const answers = {
      '/.well-known/openid-configuration': {
        issuer: url,
        authorization_endpoint: `${url}/auth`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        code_challenge_methods_supported: ['S256'],
      },
      '/keys': { keys: [jwk] },
    };
    const found = answers[q.url];
    r.writeHead(found ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(found ?? {}));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, stop };
}

const b64 = (v) => Buffer.from(JSON.stringify(v)).toString('base64url');
function signed(claims) {
  const text = `${b64({ alg: 'RS256', kid: 'acts-1', typ: 'JWT' })}.${b64(claims)}`;
  return `${text}.${createSign('sha256').update(text).sign(pair.privateKey).toString('base64url')}`;
}

export async function signOn(t) {
  const idp = await startIssuer();
  const h = await Hand.of(t, 'admin');
  const find = async () => (await t.tenant('GET', '/v1/identity-providers')).data.find((p) => p.name === 'corp');
  await h.go('/settings?tab=sso');
  await h.opens('settings.idpAdd');
  await h.put('settings.idpName', 'corp');
  await h.put('settings.idpIssuer', idp.url);
  await h.put('settings.idpClient', 'falaj');
  await h.put('settings.idpGroups', 'ml-team = ml-engineer\nops = viewer');
  await h.send('settings.idpAdd');
  await h.gone();
  const made = await find();
  const pairs = (p) => p.group_roles.map((g) => `${g.group}:${g.role}`);
  h.same(
    'the provider',
    [made.issuer, made.client_id, pairs(made)],
    [idp.url, 'falaj', ['ml-team:ml-engineer', 'ops:viewer']],
  );

  await h.opens('settings.idpTest', h.row('corp'));
  await h.see('text', W('settings.idpTestOk'));
  await h.page.keyboard.press('Escape');
  await h.gone();

  // Somebody else changes it while it is edited.
  await h.opens('settings.idpEdit', h.row('corp'));
  const roles = [{ group: 'ops', role: 'viewer' }];
  await h.patch(`/v1/identity-providers/${made.provider_id}`, made.version, { group_roles: roles });
  h.expect(412);
  await h.put('settings.idpClient', 'falaj-2');
  await h.send('settings.idpEdit');
  await h.page.waitForSelector('.conflict tbody tr');
  const rows = await h.page.locator('.conflict tbody tr').allTextContents();
  const names = ['settings.idpClient', 'settings.idpGroups'].map((k) => W(k));
  if (!names.every((n) => rows.some((x) => x.startsWith(n))) || rows.join().includes('{'))
    h.fault(`the difference: ${rows}`);
  await h.click('button', W('conflict.reload'));
  await h.page.locator('.conflict').waitFor({ state: 'detached' });
  h.expect();
  h.same('reloaded', await h.field(W('settings.idpGroups'), { inside: h.dialog }).inputValue(), 'ops = viewer');
  await h.put('settings.idpClient', 'falaj-2');
  await h.send('settings.idpEdit');
  await h.gone();
  const changed = await find();
  h.same('edited', [changed.client_id, pairs(changed)], ['falaj-2', ['ops:viewer']]);

  await h.opens('settings.idpLink', h.row('corp'));
  await h.put('settings.idpSubject', 'saif-at-corp');
  await h.put('members.userId', 'Nobody At All');
  await h.send('settings.idpLink');
  await h.dialog.getByText(W('members.noSuch')).waitFor();
  await h.put('members.userId', 'Saif');
  await h.send('settings.idpLink');
  await h.gone();
  const saif = (await t.tenant('GET', '/v1/users?name=Saif')).data[0].user_id;
  h.same('linked', sql(t, "SELECT user_id FROM federated_user WHERE subject = 'saif-at-corp'"), uuid(saif));

  await h.confirm('settings.off', 'corp', { inside: h.row('corp') });
  h.same('off', (await find()).state, 'DISABLED');
  await h.opens('settings.on', h.row('corp'));
  await h.send('settings.on');
  await h.gone();
  h.same('on', (await find()).state, 'ACTIVE');
  await h.confirm('settings.idpRemove', 'corp', { inside: h.row('corp') });
  h.same('removed', await find(), undefined);
  idp.stop();
}

export async function issuers(t) {
  const idp = await startIssuer();
  await t.tenant('POST', '/v1/service-accounts', { name: 'pipeline', roles: ['service-account'] });
  const h = await Hand.of(t, 'admin');
  await h.go('/settings?tab=issuers');
  await h.opens('settings.issAdd');
  const audience = `${await h.field(W('settings.issAudience'), { inside: h.dialog }).inputValue()}acts`;
  await h.put('col.name', 'ci');
  await h.put('settings.idpIssuer', idp.url);
  await h.put('settings.issAudience', audience);
  await h.put('settings.issJwks', `${idp.url}/keys`);
  await h.put('settings.issSubject', 'repo:acts');
  await h.pick('settings.issAccount', 'pipeline');
  await h.send('settings.issAdd');
  await h.gone();
  const now = Math.floor(Date.now() / 1000);
  const token = signed({
    iss: idp.url,
    aud: audience,
    sub: 'repo:acts',
    iat: now,
    exp: now + 300,
    jti: crypto.randomUUID(),
  });
  h.same('believed', (await t.call(token, 'GET', '/v1/me')).name, 'pipeline');
  await h.confirm('settings.off', 'ci', { inside: h.row('ci') });
  await h.dead('what a switched off issuer signs', token);
  await h.confirm('settings.idpRemove', 'ci', { inside: h.row('ci') });
  h.same(
    'removed',
    (await t.tenant('GET', '/v1/issuers')).data.filter((i) => i.name === 'ci'),
    [],
  );
  idp.stop();
}

/** The directory's token, people and groups by it, and the role that a group gives. */
export async function directory(t) {
  const h = await Hand.of(t, 'admin');
  await h.go('/settings?tab=scim');
  await h.opens('settings.scimToken');
  await h.put('settings.scimName', 'entra');
  await h.send('settings.scimToken');
  const token = await h.once('tokens.secret');
  const scim = async (path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' };
    const r = await fetch(`${t.base}/scim/v2${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (r.status !== 201) throw new Error(`${path}: ${r.status} ${await r.text()}`);
    return await r.json();
  };
  const core = 'urn:ietf:params:scim:schemas:core:2.0';
  const { id } = await scim('/Users', { schemas: [`${core}:User`], userName: 'huda', active: true });
  h.same('provisions and no more', await h.status(token, 'GET', '/v1/users'), 403);
  await scim('/Groups', { schemas: [`${core}:Group`], displayName: 'data-people', members: [{ value: id }] });
  const huda = async () => (await t.tenant('GET', '/v1/users?name=huda')).data[0];
  h.same('provisioned', (await huda())?.roles, []);

  await h.go('/members?tab=groups');
  const row = h.row('data-people');
  await h.opens('members.map', row);
  await h.pick('members.role', W('role.ml-engineer'));
  await h.send('members.map');
  await h.gone();
  await row.getByText(W('role.ml-engineer')).waitFor();
  h.same('its member holds it', (await huda()).roles, ['ml-engineer']);
  await h.confirm('members.takeBack', 'data-people', { inside: row });
  h.same('taken back', (await huda()).roles, []);
}

export const CACHE_MS = 200;
/** The last proof of a person's sessions was before the ten minutes for which it counts; the API believes a session for CACHE_MS. */
async function age(t, name) {
  const at = "now() - interval '20 minutes'";
  sql(
    t,
    `UPDATE session SET proved_at = ${at}, mfa_at = CASE WHEN mfa_at IS NULL THEN NULL ELSE ${at} END
     WHERE ended_at IS NULL AND user_id IN (SELECT user_id FROM app_user WHERE name = '${name}')`,
  );
  await new Promise((done) => setTimeout(done, 2 * CACHE_MS));
}

async function setUp(h) {
  await h.click('button', W('login.enrol'));
  await h.page.waitForSelector('svg.qr path');
  await h.click('button', W('login.cannotScan'));
  const secret = await h.page.getByRole('textbox', { name: W('login.secretLabel') }).inputValue();
  await h.fill(W('login.code'), totp(secret));
  await h.click('button', W('login.confirm'));
  await h.page.waitForSelector('.recovery li');
  await h.click('button', W('confirm.kept'));
  await h.gone();
  return secret;
}

export async function security(t) {
  const other = await Hand.of(t, 'engineer');
  const h = await Hand.of(t, 'engineer');
  const next = 'a falcon over the dunes';
  await h.go('/settings?tab=security');
  h.expect(401, 403, 422);
  await h.fill(W('settings.old'), 'not the password at all');
  await h.fill(W('settings.new'), next);
  await h.click('button', W('settings.change'));
  await h.page.getByText('The password is wrong').waitFor();
  h.same('what was typed', await h.field(W('settings.new')).inputValue(), next);
  h.expect();
  await h.fill(W('settings.old'), PASSWORD);
  await h.click('button', W('settings.change'));
  await h.see('text', W('settings.changed'));
  await other.out();
  h.same('the password before', await other.login('palm', 'Omar', PASSWORD), 401);
  h.same('the new password', await other.login('palm', 'Omar', next), 200);
  t.people.engineer.password = next;

  const factor = async () => (await t.tenant('GET', '/v1/users?name=Omar')).data[0].has_second_factor;
  await age(t, 'Omar');
  h.expect(403);
  await h.click('button', W('login.enrol'));
  await h.dialog.getByText(W('login.proof')).waitFor();
  await h.fill(W('login.password'), next, { inside: h.dialog });
  await h.send('login.prove');
  await h.page.waitForSelector('svg.qr path');
  await h.go('/settings?tab=security'); // what was begun is begun anew
  const secret = await setUp(h);
  h.same('set up', await factor(), true);
  await age(t, 'Omar');
  h.expect(403);
  await h.opens('settings.factorOff');
  await h.fill(W('confirm.type', { name: '\u2068Omar\u2069' }), 'Omar', { inside: h.dialog });
  await h.send('settings.factorOff');
  const proof = h.page.getByRole('dialog', { name: W('login.proof') });
  await h.fill(W('login.code'), totp(secret, 1), { inside: proof });
  await h.click('button', W('login.prove'), { inside: proof });
  await h.gone();
  h.same('removed', await factor(), false);
  await h.see('button', W('login.enrol'));
}

/** A role that demands a second factor: whoever comes by an invitation sets one up before anything else. */
export async function enrolment(t) {
  const made = await t.tenant('POST', '/v1/invitations', { name: 'Hind', roles: ['compliance-officer'] });
  const h = await Hand.of(t);
  await h.go(`/accept?tenant=palm#token=${made.token}`, '.login-card form');
  h.expect(401);
  await h.fill(W('accept.password'), PASSWORD);
  await h.fill(W('accept.again'), PASSWORD);
  await h.click('button', W('accept.go'));
  await h.see('button', W('login.enrol'));
  h.expect(401, 403);
  const before = await h.page.evaluate(() => fetch('/v1/audit/events').then((r) => r.status));
  if (before < 400) h.fault('acts before the second factor is set up');
  await setUp(h);
  await h.page.waitForSelector('#page-title');
  const after = await h.page.evaluate(() => fetch('/v1/audit/events').then((r) => r.status));
  h.same('acts afterwards', after, 200);
  h.same('who', (await h.page.evaluate(() => fetch('/v1/me').then((r) => r.json()))).name, 'Hind');
}

export async function glass(t) {
  const invited = await t.platform('POST', '/v1/invitations', { name: 'Rashid', roles: ['platform-admin'] });
  await t.call('', 'POST', '/v1/auth/invitations/accept', { token: invited.token, password: PASSWORD });
  t.people.custodian = { tenant: 'platform', name: 'Rashid', password: PASSWORD };
  const h = await Hand.of(t, 'operator');
  const second = await Hand.of(t, 'custodian');
  const { name, password } = t.people.operator;
  await h.go('/settings?tab=glass');
  await age(t, name);
  h.expect(403);
  await h.opens('settings.glassAsk');
  await h.pick('col.zone', t.ids.zone);
  await h.put('settings.glassReason', 'the console of the zone is gone');
  await h.send('settings.glassAsk');
  const proof = h.page.getByRole('dialog', { name: W('login.proof') });
  await h.fill(W('login.password'), password, { inside: proof });
  await h.click('button', W('login.prove'), { inside: proof });
  await h.gone();
  await h.see('text', W('settings.glassAsked'));
  const [asked] = (await t.platform('GET', '/v1/approvals?state=PENDING')).data;
  h.same('the reason', asked.reason, 'the console of the zone is gone');

  await second.go('/approvals');
  const row = second.row(W('approvals.kind_break_glass_open'));
  await second.confirm('approvals.approve', asked.subject || asked.kind, {
    inside: row,
    reason: 'seen with my own eyes',
  });
  const decided = await t.platform('GET', `/v1/approvals/${asked.approval_id}`);
  h.same('approved', decided.state, 'EXECUTED');

  h.expect();
  await h.go('/settings?tab=glass');
  await h.opens('settings.glassOpen');
  await h.fill(W('confirm.type', { name: `\u2068${asked.subject}\u2069` }), asked.subject, { inside: h.dialog });
  // Its role holds at one zone, and the list of machines of all zones is not its own.
  h.expect(403);
  await h.send('settings.glassOpen');
  await h.page.waitForURL(`${t.base}/`);
  await h.page.waitForSelector('#page-title');
  const me = await h.page.evaluate(() => fetch('/v1/me').then((r) => r.json()));
  h.same('who acts', [me.name, me.roles], [`break-glass-${t.ids.zone}`, ['zone-operator']]);
}
