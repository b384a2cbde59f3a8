// SPDX-License-Identifier: Apache-2.0
// platform.setup.ts - the platform that a test file talks to. FALAJ_PLATFORM names the folder of one that runs already and that other files
// use before and after this one (tests/lib/keeper.py); `none` says that the file starts what it needs. Without it a whole Falaj starts
// here and ends after the file.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { TestProject } from 'vitest/node';
import { makeZone, startPlatform, waitNode, type Ready } from './harness.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    falaj: Ready;
  }
}

/** The daemons of a platform that runs; falaj dev starts again what dies, under another id. */
const daemons = (ready: Ready): Record<string, number> => JSON.parse(readFileSync(resolve(ready.data_dir, 'dev.json'), 'utf8')).pids;

function shared(folder: string, project: TestProject): () => void {
  const ready = JSON.parse(readFileSync(resolve(folder, 'ready.json'), 'utf8')) as Ready;
  const pids = daemons(ready);
  project.provide('falaj', { ...ready, pids });
  return () => {
    const died = Object.entries(daemons(ready)).filter(([name, pid]) => pids[name] !== pid).map(([name]) => name);
    if (died.length > 0) throw new Error(`${died.join(', ')} died while this file ran; the logs are in ${ready.data_dir}/log`);
  };
}

export default async function setup(project: TestProject): Promise<() => void | Promise<void>> {
  const folder = process.env['FALAJ_PLATFORM'];
  if (folder === 'none') return () => {};
  if (folder) return shared(folder, project);
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
