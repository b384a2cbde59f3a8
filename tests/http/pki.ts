// SPDX-License-Identifier: Apache-2.0
// pki.ts - certificates of every kind, made with openssl, and a machine's calls with them.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PATIENCE_MS, type Ready } from './harness.ts';

export interface Pair {
  cert: string; // PEM, a chain where there is one
  key: string;
}

export class Pki {
  readonly dir: string = mkdtempSync(join(tmpdir(), 'falaj-pki-'));
  private n = 0;

  close(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  openssl(...args: string[]): string {
    return execFileSync('openssl', args, { cwd: this.dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  private file(text: string, kind: string): string {
    const name = `${kind}-${++this.n}`;
    writeFileSync(join(this.dir, name), text, { mode: 0o600 });
    return name;
  }

  key(kind: 'p256' | 'p384' | 'rsa1024' | 'rsa2048' | 'ed25519' = 'p256'): string {
    if (kind.startsWith('rsa')) return this.openssl('genpkey', '-algorithm', 'RSA', '-pkeyopt', `rsa_keygen_bits:${kind.slice(3)}`);
    if (kind === 'ed25519') return this.openssl('genpkey', '-algorithm', 'ED25519');
    return this.openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', `ec_paramgen_curve:${kind === 'p256' ? 'P-256' : 'P-384'}`);
  }

  csr(key: string, subject = '/CN=any', extensions: string[] = []): string {
    return this.openssl('req', '-new', '-key', this.file(key, 'key'), '-subj', subject, ...extensions.flatMap((e) => ['-addext', e]));
  }

  ca(extensions: string[] = []): Pair {
    const key = this.key();
    const cert = this.openssl('req', '-x509', '-new', '-key', this.file(key, 'key'), '-subj', '/CN=authority', '-days', '2',
      '-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign', ...extensions.flatMap((e) => ['-addext', e]));
    return { cert, key };
  }

  /** A leaf with exactly these extensions. dates: notBefore and notAfter as openssl ca wants them. */
  leaf(ca: Pair, extensions: string[], dates?: [string, string], key: string = this.key()): Pair {
    const csr = this.file(this.csr(key), 'csr'), ext = this.file(`${extensions.join('\n')}\n`, 'ext');
    const cert = this.file(ca.cert, 'ca'), signer = this.file(ca.key, 'key');
    if (!dates)
      return { key, cert: this.openssl('x509', '-req', '-in', csr, '-CA', cert, '-CAkey', signer, '-CAcreateserial', '-days', '1', '-extfile', ext) };
    const index = this.file('', 'index'), out = `dated-${++this.n}`;
    const conf = this.file(`[ca]\ndefault_ca=d\n[d]\ndatabase=${index}\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\nrand_serial=yes\n[p]\ncommonName=supplied\n`, 'conf');
    this.openssl('ca', '-batch', '-config', conf, '-cert', cert, '-keyfile', signer, '-in', csr, '-extfile', ext, '-notext', '-startdate', dates[0],
      '-enddate', dates[1], '-out', out);
    return { key, cert: readFileSync(join(this.dir, out), 'utf8') };
  }

  self(extensions: string[]): Pair {
    const key = this.key();
    return { key, cert: this.openssl('req', '-x509', '-new', '-key', this.file(key, 'key'), '-subj', '/CN=me', '-days', '2', ...extensions.flatMap((e) => ['-addext', e])) };
  }

  text(cert: string): string {
    return this.openssl('x509', '-in', this.file(cert, 'cert'), '-noout', '-text');
  }
}

export interface Answer {
  status: number; // 0: no answer, refused in TLS
  json: any;
  why: string;
}

/** The worker listener's address and the authority of its own certificate. */
export function workerListener(ready: Ready): { url: string; ca: string; file: Pair } {
  const conf = readFileSync(join(ready.data_dir, 'etc/worker.conf'), 'utf8');
  const ca = readFileSync(join(ready.data_dir, `tls/ca-${ready.zone}.pem`), 'utf8');
  return { url: /worker\.api_url = (\S+)/.exec(conf)![1]!, ca, file: { cert: ca, key: readFileSync(join(ready.data_dir, `secrets/ca-${ready.zone}.key`), 'utf8') } };
}

/** One call of a machine on a connection of its own. */
export function machineCall(ready: Ready, who: Pair | null, path: string, body: unknown, tls: Record<string, unknown> = {}): Promise<Answer> {
  const { url, ca } = workerListener(ready);
  const at = new URL(url), text = JSON.stringify(body);
  return new Promise((done) => {
    const call = request({
      hostname: at.hostname, port: at.port, path, method: 'POST', ca, agent: false, timeout: PATIENCE_MS, ...(who ? { cert: who.cert, key: who.key } : {}), ...tls,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
    }, (response) => {
      let all = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (all += chunk)).on('end', () => {
        let json: unknown;
        try { json = JSON.parse(all); } catch { json = undefined; }
        done({ status: response.statusCode ?? 0, json, why: all });
      });
    });
    call.on('error', (error) => done({ status: 0, json: undefined, why: String(error) }));
    call.on('timeout', () => call.destroy(new Error('no answer')));
    call.end(text);
  });
}
