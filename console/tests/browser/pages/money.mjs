// SPDX-License-Identifier: Apache-2.0
// money.mjs - quotas, usage, cost, approvals.
export default [
  { name: 'quotas', path: '/quotas', as: 'admin' },
  { name: 'approvals', path: '/approvals', as: 'admin' },
];
