// SPDX-License-Identifier: Apache-2.0
// openapi.test.ts - the served document is OpenAPI 3.1, passes two linters and the project's own rules, makes a typed client
// that compiles, and is the document in docs/gen.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { deref, fetchDocument, isPublic, isWorkerRoute, operations, type Document, type Operation } from './contract.ts';

const here = import.meta.dirname;
const scratch = resolve(here, 'node_modules/.falaj-openapi');
const file = resolve(scratch, 'openapi.json');
const bin = (name: string): string => resolve(here, 'node_modules/.bin', name);
const run = promisify(execFile);
const tool = async (name: string, ...args: string[]): Promise<void> => {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };
  try {
    await run(bin(name), args, { cwd: here, env, maxBuffer: 64 << 20 });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${name} refuses the document:\n${stdout}\n${stderr}`.slice(0, 20_000));
  }
};

let doc: Document;
let ops: Operation[];

beforeAll(async () => {
  doc = await fetchDocument(inject('falaj'));
  ops = operations(doc);
  mkdirSync(scratch, { recursive: true });
  writeFileSync(file, JSON.stringify(doc, null, 2));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('the OpenAPI document', () => {
  test('is version 3.1 and has operations', () => {
    expect(doc.openapi).toMatch(/^3\.1\.\d+$/);
    expect(ops.length).toBeGreaterThan(30);
  });

  test('passes redocly lint', () => tool('redocly', 'lint', file, '--config', 'redocly.yaml'));

  test('passes spectral with the rules of the project', () =>
    tool('spectral', 'lint', file, '--ruleset', 'ruleset.spectral.yaml', '--fail-severity', 'warn'));

  test('makes TypeScript types and a client that compile', async () => {
    await tool('openapi-typescript', file, '--output', resolve(scratch, 'schema.d.ts'));
    writeFileSync(resolve(scratch, 'use.mts'), [
      "import createClient from 'openapi-fetch';",
      "import type { paths } from './schema.d.ts';",
      "const client = createClient<paths>({ baseUrl: 'http://127.0.0.1' });",
      "export const jobs = () => client.GET('/v1/jobs', {});",
      "export const one = async () => (await client.GET('/v1/jobs/{job_id}', { params: { path: { job_id: 'job_x' } } })).data?.state;",
    ].join('\n'));
    await tool('tsc', '--noEmit', '--strict', '--skipLibCheck', '--target', 'ES2022', '--module', 'NodeNext', '--moduleResolution',
      'NodeNext', '--allowImportingTsExtensions', resolve(scratch, 'use.mts'));
  });

  // Once started, an upload's completion goes on as one, however often it is asked for: the path names what is made.
  const onceByItsPath = ['/v1/uploads/{upload_id}/completion'];
  test('asks for an Idempotency-Key on every POST that creates (201, 202)', () => {
    const missing = ops
      .filter((op) => op.method === 'POST' && !isWorkerRoute(op) && !op.path.startsWith('/scim/') && ('201' in op.responses || '202' in op.responses))
      .filter((op) => !op.parameters.some((p) => p.in === 'header' && p.name.toLowerCase() === 'idempotency-key' && p.required))
      .map((op) => op.path);
    expect(missing).toEqual(onceByItsPath);
  });

  test('has a security requirement on all but the open routes', () => {
    const open = ops.filter(isPublic).map((op) => op.path).filter((path) => path.startsWith('/v1/'));
    expect(open.filter((path) => ![
      '/v1/enrol', '/v1/nodes/enrol', '/v1/auth/login', '/v1/auth/invitations/accept', '/v1/auth/device', '/v1/auth/device/token',
      '/v1/auth/oidc/start', '/v1/auth/oidc/callback', '/v1/auth/providers',
    ].includes(path))).toEqual([]);
  });

  test('gives lists the same shape: data and next_page_token', () => {
    const odd: string[] = [];
    for (const op of ops.filter((o) => o.method === 'GET' && o.parameters.some((p) => p.name === 'page_token'))) {
      const reply = deref(doc, op.responses['200'] ?? {});
      const schema = deref(doc, reply.content?.['application/json']?.schema ?? {});
      if (!schema.properties?.['data'] || !schema.properties?.['next_page_token']) odd.push(op.path);
    }
    expect(odd).toEqual([]);
  });

  test('is the document in docs/gen', () => {
    const kept = JSON.parse(readFileSync(resolve(here, '../../docs/gen/openapi.json'), 'utf8'));
    expect({ ...doc, servers: undefined }).toEqual({ ...kept, servers: undefined });
  });
});
