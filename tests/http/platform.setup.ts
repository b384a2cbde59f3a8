// SPDX-License-Identifier: Apache-2.0
// platform.setup.ts - starts a whole Falaj before the test files run and ends it after them.
import type { TestProject } from 'vitest/node';
import { makeZone, startPlatform, waitNode, type Ready } from './harness.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    falaj: Ready;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const platform = await startPlatform();
  try {
    await makeZone(platform.ready, platform.ready.zone);
    await waitNode(platform.ready);
  } catch (error) {
    await platform.stop();
    throw error;
  }
  project.provide('falaj', platform.ready);
  return () => platform.stop();
}
