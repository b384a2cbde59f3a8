// SPDX-License-Identifier: Apache-2.0
// fleet.mjs - machines and zones, as the operator of the platform sees them.
export default [
  { name: 'workers', path: '/workers', as: 'operator' },
  { name: 'zones', path: '/zones', as: 'operator' },
];
