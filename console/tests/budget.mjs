// SPDX-License-Identifier: Apache-2.0
// budget.mjs - what a reader has to fetch: at most 300 kB of gzipped script to start, at most 450 kB in all for the first page.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const dist = join(import.meta.dirname, '../dist');
const size = (file) => gzipSync(readFileSync(join(dist, file)), { level: 9 }).length;
const html = readFileSync(join(dist, 'index.html'), 'utf8');
if (/https?:\/\/|<script(?![^>]*src=)|<style|\son\w+=/.test(html))
  throw new Error('index.html has something inline, or of another origin');
const named = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map((m) => m[1]);

/** All that a chunk names in static imports, transitively. */
function closure(start) {
  const seen = new Set();
  const queue = [...start];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    if (file.endsWith('.js'))
      for (const m of readFileSync(join(dist, file), 'utf8').matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g))
        queue.push(`assets/${m[1]}`);
  }
  return [...seen];
}
const entry = closure(named.filter((f) => f.endsWith('.js')));
const main = readFileSync(
  join(
    dist,
    named.find((f) => f.endsWith('.js')),
  ),
  'utf8',
);
const first = /assets\/Overview-[\w-]+\.js/.exec(main)?.[0];
if (first === undefined) throw new Error('the chunk of the first page is not named in the entry');
const script = entry.reduce((n, f) => n + size(f), 0);
const all = [...new Set([...entry, ...closure([first]), ...named])].reduce((n, f) => n + size(f), 0);
console.log(`entry ${(script / 1000).toFixed(1)} kB of 300, first page ${(all / 1000).toFixed(1)} kB of 450, gzipped`);
process.exit(script > 300_000 || all > 450_000 ? 1 : 0);
