// SPDX-License-Identifier: Apache-2.0
// people.mjs - the ways in, members, tokens, settings.
export async function seed(t) {
  const waits = await t.call('', 'POST', '/v1/auth/device', { client: 'falaj on omar-laptop' });
  t.ids.userCode = waits.user_code;
  const users = (await t.tenant('GET', '/v1/users?page_size=200')).data;
  t.ids.omar = users.find((u) => u.name === 'Omar').user_id;
  await t.tenant('POST', '/v1/invitations', { name: 'Noura', roles: ['viewer'], email_hint: 'noura@palm.example' });
  const project = await t.tenant('POST', '/v1/projects', { name: 'fraud', display_name: 'كشف الاحتيال' });
  const robot = await t.tenant('POST', '/v1/service-accounts', { name: 'nightly-export', roles: ['service-account'] });
  await t.tenant('POST', `/v1/service-accounts/${robot.user_id}/tokens`, { name: 'cron', expires_in_days: 90 });
  await t.tenant('POST', '/v1/role-bindings', {
    user_id: t.ids.omar,
    role: 'viewer',
    project_id: project.project_id,
    valid_until: new Date(Date.now() + 30 * 86400e3).toISOString(),
    mfa_age_seconds: 3600,
    cidrs: ['10.0.0.0/8'],
    in_zones: [t.ids.zone],
  });
  const idp = await t.tenant('POST', '/v1/identity-providers', {
    name: 'staff',
    issuer: 'http://127.0.0.1:9/',
    client_id: 'falaj',
    create_users: true,
    group_roles: [{ group: 'ml-team', role: 'ml-engineer' }],
  });
  t.ids.provider = idp.provider_id;
  await t.tenant('POST', '/v1/issuers', {
    name: 'ci',
    issuer: 'https://ci.palm.example',
    audience: `falaj:${t.ids.tenant}:ci`,
    algorithms: ['RS256'],
    jwks_uri: 'https://ci.palm.example/keys',
    subjects: [{ subject: 'repo:palm/app', user_id: robot.user_id }],
  });
}

const dialog = (selector) => async (page) => {
  await page.click(selector);
  await page.waitForSelector('[role=dialog]');
};

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
    path: '/device',
    as: 'engineer',
    act: async (page, t) => {
      // A code lives for minutes, and a tour of all looks takes longer on a busy machine: each look has its own.
      const { user_code } = await t.call('', 'POST', '/v1/auth/device', { client: 'falaj on omar-laptop' });
      await page.goto(`${t.base}/device?user_code=${user_code}`, { waitUntil: 'load' });
      await page.click('.narrow-card button[type=submit]');
      await page.waitForSelector('.narrow-card dl');
    },
  },
  { name: 'members', path: '/members', as: 'admin' },
  { name: 'members-invitations', path: '/members?tab=invitations', as: 'admin' },
  { name: 'members-bindings', path: '/members?tab=bindings', as: 'admin' },
  { name: 'members-groups', path: '/members?tab=groups', as: 'admin' },
  { name: 'members-matrix', path: '/members?tab=matrix', as: 'admin' },
  { name: 'members-review', path: '/members?tab=review', as: 'compliance' },
  {
    name: 'members-why',
    path: '/members?tab=why&who=Saif&act=job:submit',
    as: 'admin',
    act: async (page) => {
      await page.click('.split button[type=submit]');
      await page.waitForSelector('.chain');
    },
  },
  { name: 'members-invite', path: '/members', as: 'admin', act: dialog('.page-head button.pf-m-primary') },
  {
    name: 'members-grant',
    path: (ids) => `/members/${ids.omar}`,
    as: 'admin',
    act: async (page, t) => {
      await dialog('.page-head button.pf-m-secondary')(page, t);
      await page.click('[role=dialog] .pf-v6-c-expandable-section__toggle button');
    },
  },
  { name: 'member', path: (ids) => `/members/${ids.omar}`, as: 'admin' },
  { name: 'member-sessions', path: (ids) => `/members/${ids.omar}?tab=sessions`, as: 'admin' },
  { name: 'member-tokens', path: (ids) => `/members/${ids.omar}?tab=tokens`, as: 'admin' },
  {
    name: 'member-deactivate',
    path: (ids) => `/members/${ids.omar}`,
    as: 'admin',
    act: dialog('.page-head button.pf-m-danger >> nth=-1'),
  },
  { name: 'projects', path: '/projects', as: 'admin' },
  { name: 'projects-create', path: '/projects', as: 'admin', act: dialog('.page-head button.pf-m-primary') },
  { name: 'tokens', path: '/tokens', as: 'admin' },
  { name: 'tokens-all', path: '/tokens?tab=all', as: 'admin' },
  { name: 'tokens-services', path: '/tokens?tab=services', as: 'admin' },
  {
    name: 'tokens-create',
    path: '/tokens',
    as: 'admin',
    act: async (page, t) => {
      await dialog('.page-head button.pf-m-primary')(page, t);
      await page.selectOption('#t-preset', 'jobs');
      await page.click('[role=dialog] .pf-v6-c-expandable-section__toggle button');
    },
  },
  {
    name: 'tokens-service-create',
    path: '/tokens?tab=services',
    as: 'admin',
    act: dialog('.page-head button.pf-m-primary'),
  },
  { name: 'settings', path: '/settings', as: 'admin' },
  { name: 'settings-security', path: '/settings?tab=security', as: 'admin' },
  { name: 'settings-sessions', path: '/settings?tab=sessions', as: 'admin' },
  { name: 'settings-sso', path: '/settings?tab=sso', as: 'admin' },
  {
    name: 'settings-sso-test',
    path: '/settings?tab=sso',
    as: 'admin',
    act: dialog('.acts button >> nth=0'),
  },
  { name: 'settings-sso-add', path: '/settings?tab=sso', as: 'admin', act: dialog('.page-head button.pf-m-primary') },
  { name: 'settings-issuers', path: '/settings?tab=issuers', as: 'admin' },
  {
    name: 'settings-issuers-add',
    path: '/settings?tab=issuers',
    as: 'admin',
    act: dialog('.page-head button.pf-m-primary'),
  },
  { name: 'settings-scim', path: '/settings?tab=scim', as: 'admin' },
  { name: 'settings-glass', path: '/settings?tab=glass', as: 'operator' },
  {
    name: 'login-ways',
    path: '/login?tenant=palm',
    as: 'nobody',
    wait: '.ways button',
    expected: [401],
  },
  {
    name: 'settings-enrol',
    path: '/settings?tab=security',
    as: 'viewer',
    act: async (page) => {
      await page.click('#factor button');
      await page.waitForSelector('.qr');
    },
  },
];
