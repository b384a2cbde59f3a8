// SPDX-License-Identifier: Apache-2.0
// One platform for a run (platform.setup.ts), one file at a time, one test at a time: the tests share its database.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['*.test.ts', 'routes/*.test.ts'],
    globalSetup: ['./platform.setup.ts'],
    setupFiles: ['./undeploy.ts'],
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    sequence: { concurrent: false },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
    reporters: ['default'],
  },
});
