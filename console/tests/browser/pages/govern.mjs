// SPDX-License-Identifier: Apache-2.0
// govern.mjs - keys and audit.
export default [
  { name: 'keys', path: '/keys', as: 'admin' },
  { name: 'key', path: (ids) => `/keys/${ids.zone}`, as: 'admin' },
  { name: 'audit', path: '/audit', as: 'compliance', expected: [404] },
];
