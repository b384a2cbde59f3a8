// SPDX-License-Identifier: Apache-2.0
// jobs.mjs - the list of jobs, one job and its parts.
export default [
  { name: 'jobs', path: '/jobs', as: 'engineer' },
  { name: 'job', path: (ids) => `/jobs/${ids.job}`, as: 'engineer' },
  {
    name: 'job-metrics',
    path: (ids) => `/jobs/${ids.job}?tab=metrics`,
    as: 'engineer',
    act: (page) => page.waitForSelector('.plot canvas'),
  },
  { name: 'job-events', path: (ids) => `/jobs/${ids.job}?tab=events`, as: 'engineer' },
  { name: 'job-attempts', path: (ids) => `/jobs/${ids.job}?tab=attempts`, as: 'engineer' },
  { name: 'job-config', path: (ids) => `/jobs/${ids.job}?tab=config`, as: 'engineer' },
];
