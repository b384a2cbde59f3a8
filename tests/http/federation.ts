// SPDX-License-Identifier: Apache-2.0
// federation.ts - what the tests of sign-on share: keys, hand-made tokens, and a provider that can be told to misbehave.
import { createHash, createHmac, generateKeyPairSync, sign as signBytes, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const b64 = (data: string | Buffer): string => Buffer.from(data).toString('base64url');
export const seconds = (): number => Math.floor(Date.now() / 1000);

export interface Key { kid: string; alg: 'RS256' | 'ES256'; private: KeyObject; public: KeyObject; jwk: Record<string, unknown> }

export function makeKey(alg: 'RS256' | 'ES256', kid: string): Key {
  const pair = alg === 'RS256' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid, alg, private: pair.privateKey, public: pair.publicKey, jwk: { ...pair.publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' } };
}

export function signature(key: Key, text: string): Buffer {
  return signBytes('sha256', Buffer.from(text), key.alg === 'ES256' ? { key: key.private, dsaEncoding: 'ieee-p1363' } : key.private);
}

/** Header and payload may be text, to be odd on purpose. */
export function token(key: Key, payload: unknown, header: unknown = {}): string {
  const head = typeof header === 'string' ? header : JSON.stringify({ alg: key.alg, kid: key.kid, typ: 'JWT', ...(header as object) });
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const text = `${b64(head)}.${b64(body)}`;
  return `${text}.${b64(signature(key, text))}`;
}

export function hmacToken(secret: Buffer | string, payload: unknown, header: object): string {
  const text = `${b64(JSON.stringify(header))}.${b64(JSON.stringify(payload))}`;
  return `${text}.${b64(createHmac('sha256', secret).update(text).digest())}`;
}

export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A server on loopback whose answers a test sets by path. */
export class Fake {
  readonly answers = new Map<string, Handler>();
  readonly calls: { path: string; body: string; authorization: string }[] = [];
  private constructor(readonly server: Server, readonly url: string) {}

  static async start(): Promise<Fake> {
    let fake: Fake;
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (c: Buffer) => chunks.push(c));
      request.on('end', () => {
        const path = (request.url ?? '').split('?')[0]!;
        const body = Buffer.concat(chunks).toString();
        fake.calls.push({ path, body, authorization: request.headers.authorization ?? '' });
        const answer = fake.answers.get(path);
        if (answer) answer(request, response, body);
        else response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    fake = new Fake(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return fake;
  }

  json(path: string, value: unknown, status = 200): void {
    this.answers.set(path, (_q, r) => r.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value)));
  }

  count(path: string): number {
    return this.calls.filter((c) => c.path === path).length;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }
}

export const sha256url = (text: string): string => createHash('sha256').update(text).digest('base64url');
