// SPDX-License-Identifier: Apache-2.0
// people.mjs - members, tokens, approvals, settings.
export default [
  { name: 'members', path: '/members', as: 'admin' },
  { name: 'tokens', path: '/tokens', as: 'admin' },
  { name: 'settings', path: '/settings', as: 'admin' },
];
