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
    // For a machine that is slow and busy: nothing is promised by it, and a test that needs more says so.
    testTimeout: 400_000,
    hookTimeout: 400_000,
    teardownTimeout: 400_000,
    reporters: ['default'],
  },
});
