// SPDX-License-Identifier: Apache-2.0
// budget.mjs - what a reader has to fetch: at most 250 kB of gzipped script to start, at most 410 kB in all for
// the first page with its words, in the language that has more of them.
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
const main = entry.map((f) => readFileSync(join(dist, f), 'utf8')).join('');
const first = /assets\/Overview-[\w-]+\.js/.exec(main)?.[0];
if (first === undefined) throw new Error('the chunk of the first page is not named in the entry');
const router = readFileSync(join(dist, '../src/router.tsx'), 'utf8');
const packs = [...(/page\('\/', \[([^\]]*)\]/.exec(router)?.[1] ?? '').matchAll(/'(\w+)'/g)].map((m) => m[1]);
if (packs.length === 0) throw new Error('the words of the first page are not named in the router');
const words = (lang) =>
  [...packs, ...(lang === 'en' ? [] : ['core'])].map((pack) => {
    const found = new RegExp(`\\./(${lang}-${pack}-[\\w-]+\\.js)`).exec(main)?.[1];
    if (found === undefined) throw new Error(`the words ${lang} ${pack} are not named in the entry`);
    return `assets/${found}`;
  });
const sum = (files) => [...new Set(files)].reduce((n, f) => n + size(f), 0);
const script = sum(entry);
const all = ['en', 'ar'].map((lang) => sum([...entry, ...closure([first]), ...named, ...words(lang)]));
const kB = (n) => (n / 1000).toFixed(1);
console.log(`entry ${kB(script)} kB of 250, first page ${kB(all[0])} kB (Arabic ${kB(all[1])}) of 410, gzipped`);
process.exit(script > 250_000 || Math.max(...all) > 410_000 ? 1 : 0);
