// SPDX-License-Identifier: Apache-2.0
// cli_uploads.test.ts - `falaj dataset upload` of a large file over a line that breaks: it goes on by itself, and after its own death, and
// no byte that has arrived is sent again.
import { execFile, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { binary, makeTenant, must, type Api, type Ready } from './harness.ts';

const ready: Ready = inject('falaj');
const dir = mkdtempSync(join(tmpdir(), 'falaj-cli-upload-'));
const file = join(dir, 'large.csv');
const row = `${'0.25,'.repeat(200)}1\n`;
const text = `${Array.from({ length: 200 }, (_, i) => `c${i}`).join(',')},label\n${row.repeat(9000)}`;
const digest = createHash('sha256').update(text).digest('hex');
let tenant: Api;
let token: string;
let datasetId: string;

/** A line to the API that counts what is sent and can be cut: at a number of bytes, once. */
class Line {
  sent = 0;
  cutAt = Infinity;
  cuts = 0;
  onCut: () => void = () => undefined;
  private sockets = new Set<Socket>();
  private server: Server;
  constructor() {
    const { hostname, port } = new URL(ready.api_url);
    this.server = createServer((from) => {
      const to = connect({ host: hostname, port: Number(port) });
      for (const s of [from, to]) {
        this.sockets.add(s);
        s.on('error', () => undefined).on('close', () => {
          this.sockets.delete(s);
          from.destroy();
          to.destroy();
        });
      }
      to.pipe(from);
      from.on('data', (chunk: Buffer) => {
        this.sent += chunk.length;
        if (this.sent >= this.cutAt) {
          this.cutAt = Infinity;
          this.cuts++;
          this.onCut();
          from.destroy();
          to.destroy();
          return;
        }
        if (!to.write(chunk)) {
          from.pause();
          to.once('drain', () => from.resume());
        }
      });
    });
  }
  async open(): Promise<string> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }
  close(): void {
    this.server.close();
    for (const s of this.sockets) s.destroy();
  }
}

interface Said { code: number; out: string; err: string; child: ChildProcess }
function falaj(url: string, args: string[], started: (child: ChildProcess) => void = () => undefined): Promise<Said> {
  return new Promise((done) => {
    const child = execFile(binary('falaj'), args, { env: { ...process.env, FALAJ_URL: url, FALAJ_TOKEN: token } }, (e, out, err) =>
      done({ code: e ? Number(e.code ?? -1) : 0, out, err, child }));
    started(child);
  });
}
const open = async (): Promise<any[]> => must(await tenant.get('/v1/uploads'), 200).data;

beforeAll(async () => {
  writeFileSync(file, text);
  ({ api: tenant, token } = await makeTenant(ready));
  datasetId = must(await tenant.post('/v1/datasets', { name: 'large', label_column: 'label', classes: 2 }), 201).dataset_id;
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('a line that breaks in a part costs that part', async () => {
  const line = new Line();
  line.cutAt = 6_000_000;
  const said = await falaj(await line.open(), ['dataset', 'upload', 'large', file, '-o', 'json']);
  line.close();
  expect(said.code, said.err).toBe(0);
  expect(JSON.parse(said.out)).toMatchObject({ version: 1, sha256: digest, size_bytes: text.length, row_count: 9000 });
  expect(line.cuts).toBe(1);
  expect(line.sent, 'the broken part is all that came twice').toBeLessThan(text.length + (4 << 20) + 100_000);
  expect(said.err).toContain('the same command goes on');
  expect(await open()).toEqual([]);
});

test('the command is killed: typed again it goes on where it was, and by --resume too', async () => {
  const line = new Line(), url = await line.open();
  for (const [cutAt, how] of [[6_000_000, []], [1_000_000, 'resume']] as const) {
    line.sent = 0;
    line.cutAt = cutAt;
    const more = how === 'resume' ? ['--resume', (await open())[0].upload_id] : [];
    const said = await falaj(url, ['dataset', 'upload', datasetId, file, ...more], (child) => {
      line.onCut = () => child.kill('SIGKILL');
    });
    expect(said.out).toBe('');
    expect((await open())[0].offset, 'one part, and nothing of the next').toBe(4 << 20);
  }
  line.sent = 0;
  const said = await falaj(url, ['dataset', 'upload', 'large', file, '-o', 'json']);
  line.close();
  expect(said.code, said.err).toBe(0);
  expect(said.err).toContain(`goes on at byte ${4 << 20}`);
  expect(JSON.parse(said.out)).toMatchObject({ version: 2, sha256: digest });
  expect(line.sent).toBeLessThan(text.length - (4 << 20) + 100_000);
  expect(await open()).toEqual([]);
});

test('what cannot go on says so', async () => {
  const small = join(dir, 'other.csv');
  writeFileSync(small, text.slice(0, -row.length));
  const { upload_id: id } = must(await tenant.post('/v1/uploads', { dataset_id: datasetId, size_bytes: 10 }), 201);
  const other = await falaj(ready.api_url, ['dataset', 'upload', 'large', small, '--resume', id]);
  expect(other.code).toBe(6);
  expect(other.err).toContain('of another file');
  expect((await falaj(ready.api_url, ['dataset', 'upload', 'large', '-', '--resume', id])).code).toBe(2);
  must(await tenant.delete(`/v1/uploads/${id}`), 204);
  expect((await falaj(ready.api_url, ['dataset', 'upload', 'large', small, '--resume', id])).code).toBe(5);
  const bad = join(dir, 'bad.csv');
  writeFileSync(bad, text.replace(/1\n$/, 'x\n'));
  const refused = await falaj(ready.api_url, ['dataset', 'upload', 'large', bad]);
  expect(refused.code, refused.err).toBe(2);
  expect(refused.err).toContain('row 9001');
  expect(await open()).toEqual([]);
});
