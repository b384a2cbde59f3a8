// SPDX-License-Identifier: Apache-2.0
// wordpacks.ts - 'virtual:words': the catalogues as one chunk for each pack of packs.json and each language.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

const NAME = 'virtual:words';
const LANGS = ['en', 'ar'];
const at = join(import.meta.dirname, 'src/locales');

function readPacks(): Record<string, string[]> {
  const packs = JSON.parse(readFileSync(join(at, 'packs.json'), 'utf8')) as Record<string, string[]>;
  const named = Object.values(packs).flat().sort();
  for (const lang of LANGS) {
    const there = readdirSync(join(at, lang), { encoding: 'utf8' }).map((f) => f.slice(0, -'.json'.length));
    const odd = [...named, ...there].filter((a) => !there.includes(a) || named.filter((n) => n === a).length !== 1);
    if (odd.length > 0)
      throw new Error(`src/locales/packs.json: not once in a pack and in ${lang}/: ${odd.join(', ')}`);
  }
  return packs;
}

export function wordPacks(): Plugin {
  return {
    name: 'falaj-words',
    resolveId: (id) => (id === NAME || id.startsWith(`${NAME}/`) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${NAME}`)) return undefined;
      const packs = readPacks();
      const [lang, pack] = id.slice(NAME.length + 2).split('-');
      if (lang && pack)
        return [
          ...packs[pack]!.map((a) => `import _${a} from ${JSON.stringify(join(at, lang, `${a}.json`))};`),
          `export default { ${packs[pack]!.map((a) => `${JSON.stringify(a)}: _${a}`).join(', ')} };`,
        ].join('\n');
      // The core in English is the one that the entry has in itself.
      const read = (l: string, p: string): string =>
        l === 'en' && p === 'core' ? `() => Promise.resolve({ default: core })` : `() => import('${NAME}/${l}-${p}')`;
      const reads = LANGS.map(
        (l) =>
          `${l}: { ${Object.keys(packs)
            .map((p) => `${p}: ${read(l, p)}`)
            .join(', ')} }`,
      );
      return `import core from '${NAME}/en-core';\nexport { core };\nexport default { ${reads.join(', ')} };`;
    },
  };
}
