// SPDX-License-Identifier: Apache-2.0
// data.mjs - data sets, models and what is served.
export default [
  { name: 'datasets', path: '/datasets', as: 'engineer' },
  { name: 'dataset', path: (ids) => `/datasets/${ids.set}`, as: 'engineer' },
  { name: 'models', path: '/models', as: 'engineer' },
  { name: 'model', path: (ids) => `/models/${ids.model}`, as: 'engineer' },
  { name: 'deployments', path: '/deployments', as: 'engineer' },
  { name: 'deployment', path: (ids) => `/deployments/${ids.served}`, as: 'engineer' },
];
