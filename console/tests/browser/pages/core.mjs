// SPDX-License-Identifier: Apache-2.0
// core.mjs - the login, and the places that are not there.
export default [
  { name: 'login', path: '/datasets?page_size=50', as: 'nobody', wait: '.login-card form', expected: [401] },
  { name: 'overview', path: '/', as: 'admin' },
  { name: 'overview-operator', path: '/', as: 'operator', wait: '.tile [href="/tenants"]' },
  { name: 'overview-officer', path: '/', as: 'compliance', wait: '.tile [href="/audit/proof"]' },
  {
    name: 'absent',
    path: '/jobs/job_00000000000000000000000000000000',
    as: 'admin',
    wait: '.pf-v6-c-empty-state',
    expected: [404],
  },
  { name: 'nowhere', path: '/no/such/page', as: 'admin', wait: '.pf-v6-c-empty-state' },
];
