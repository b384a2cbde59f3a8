// SPDX-License-Identifier: Apache-2.0
// shellfiles.ts - tells the service worker, once all is written, which files this build has: all but itself, each by its address.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

const PLACE = '__SHELL__';

export function shellFiles(worker: string): Plugin {
  let dist = '';
  return {
    name: 'falaj-shell-files',
    apply: 'build',
    configResolved: (config) => void (dist = join(config.root, config.build.outDir)),
    closeBundle() {
      const at = join(dist, worker);
      const text = readFileSync(at, 'utf8');
      if (!text.includes(PLACE)) throw new Error(`${worker} has no place for the names of the files`);
      const digest = createHash('sha256')
        .update(readFileSync(join(dist, 'index.html')))
        .update(text);
      const files = readdirSync(join(dist, 'assets'))
        .sort()
        .map((f) => `/assets/${f}`);
      for (const f of files) digest.update(f);
      const shell = JSON.stringify({ digest: digest.digest('hex').slice(0, 16), files: ['/falaj.svg', ...files] });
      writeFileSync(at, text.replace(PLACE, shell));
    },
  };
}
