// SPDX-License-Identifier: Apache-2.0
// terminalstyles.ts - puts src/ui/terminalstyle.ts where the terminal's library makes styles that the console's policy refuses.
// The places are counted: another version of the library, which may have others, fails the build until somebody has looked.
import { fileURLToPath } from 'node:url';

const LIBRARY = '@xterm/xterm/lib/xterm.mjs';
const OURS = fileURLToPath(new URL('src/ui/terminalstyle.ts', import.meta.url));
const PLACES: [found: RegExp, becomes: string, times: number][] = [
  [/[\w.]+\.createElement\("style"\)/g, 'sheetHolder()', 3],
  [/(\w+)\.setAttribute\("style",/g, 'setStyle($1,', 1],
];

export function withOurStyles(code: string): string {
  let out = code;
  for (const [found, becomes, times] of PLACES) {
    const n = code.match(found)?.length ?? 0;
    if (n !== times) throw new Error(`${LIBRARY}: ${found.source} stands ${n} times, and not ${times}`);
    out = out.replace(found, becomes);
  }
  return `import { setStyle, sheetHolder } from ${JSON.stringify(OURS)};\n${out}`;
}
export const terminalStyles = () => ({
  name: 'terminal-styles',
  config: () => ({ optimizeDeps: { exclude: ['@xterm/xterm'] } }),
  transform: (code: string, id: string) =>
    id.split('?')[0]!.endsWith(LIBRARY) ? { code: withOurStyles(code), map: null } : null,
});
