// SPDX-License-Identifier: Apache-2.0
// compress-console.mjs - writes X.br and X.gz beside every file X of a built web console that gets smaller by at least a tenth.
//
//   node deploy/compress-console.mjs console/dist
//
// falaj-api serves them by Accept-Encoding. Fonts and pictures are compressed already and stay as they are. Running it again makes the same
// files; those whose X is gone are removed.
import { readdirSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const CODED = /\.(html|js|mjs|css|json|map|svg|txt|webmanifest|wasm|ttf)$/;
const LEAST_BYTES = 256;

const dir = process.argv[2];
if (!dir || process.argv.length !== 3) {
  console.error('usage: compress-console.mjs DIR');
  process.exit(2);
}

const put = (path, from, bytes) => {
  if (bytes.length <= from.length * 0.9) writeFileSync(path, bytes);
  else rmSync(path, { force: true });
};

let files = 0, before = 0, after = 0;
for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath ?? entry.path, entry.name);
  if (!entry.isFile()) continue;
  if (/\.(br|gz)$/.test(path)) {
    if (!existsSync(path.slice(0, -3))) rmSync(path);
    continue;
  }
  if (!CODED.test(path)) continue;
  const bytes = readFileSync(path);
  if (bytes.length < LEAST_BYTES) continue;
  const br = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
  put(`${path}.br`, bytes, br);
  put(`${path}.gz`, bytes, gzipSync(bytes, { level: 9 }));
  files++;
  before += bytes.length;
  after += br.length;
}
console.log(`compress-console: ${files} files, ${before} bytes, ${after} with brotli`);
