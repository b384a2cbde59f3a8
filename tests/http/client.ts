// SPDX-License-Identifier: Apache-2.0
// client.ts - what tests of a whole job need besides harness.ts: the digits, live events, predictions, raw exchanges.
import { execFileSync } from 'node:child_process';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { must, waitJob, PATIENCE_MS, type Api, type Ready } from './harness.ts';

export const digitsCsv: string = readFileSync(resolve(process.env['FALAJ_SRC'] ?? '../..', 'datasets/digits/digits.csv'), 'utf8');

/** The features of the first rows, the label left out. */
export function digitRows(n: number): { features: number[]; label: number }[] {
  const [head, ...rows] = digitsCsv.trim().split('\n').map((line) => line.trim().split(','));
  const at = head!.indexOf('label');
  return rows.slice(0, n).map((row) => ({ features: row.filter((_, i) => i !== at).map(Number), label: Number(row[at]) }));
}

export async function upload(call: Api, csv: string, name: string, classes = 10): Promise<{ dataset_id: string; version: any }> {
  const set = must(await call.post('/v1/datasets', { name, label_column: 'label', classes }), 201);
  const version = must(await call.post(`/v1/datasets/${set.dataset_id}/versions`, undefined, { raw: csv, headers: { 'content-type': 'text/csv' } }), 201);
  return { dataset_id: set.dataset_id, version };
}

export async function train(call: Api, datasetId: string, spec: Record<string, unknown> = {}): Promise<any> {
  const job = must(await call.post('/v1/jobs', { name: 'digits', kind: 'train', spec: { dataset_id: datasetId, hidden: [32], epochs: 8, seed: 1, ...spec } }), 201);
  return waitJob(call, job.job_id, ['COMPLETED'], 240_000);
}

export interface Event { id: string; event: string; data: any }

/** Live events of a job until `done` says so or the server ends the stream. */
export function events(ready: Ready, token: string, jobId: string, from?: string, done: (e: Event) => boolean = () => false, timeoutMs = 60_000): Promise<Event[]> {
  return new Promise((give, fail) => {
    const headers: Record<string, string> = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    if (from !== undefined) headers['last-event-id'] = from;
    const all: Event[] = [];
    const call = request(`${ready.api_url}/v1/jobs/${jobId}/events`, { headers, agent: false }, (response: IncomingMessage) => {
      if (response.statusCode !== 200 || !response.headers['content-type']?.startsWith('text/event-stream')) {
        fail(new Error(`no event stream: ${response.statusCode} ${response.headers['content-type']}`));
        response.resume();
        return;
      }
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          const lines = text.slice(0, end).split('\n');
          text = text.slice(end + 2);
          const of = (name: string): string => lines.filter((l) => l.startsWith(`${name}: `)).map((l) => l.slice(name.length + 2)).join('\n');
          if (!of('event')) continue;
          const event = { id: of('id'), event: of('event'), data: JSON.parse(of('data')) };
          all.push(event);
          if (done(event)) {
            give(all);
            call.destroy();
            return;
          }
        }
      });
      response.on('end', () => give(all)).on('error', fail);
    });
    call.setTimeout(timeoutMs, () => call.destroy(new Error(`no event for ${timeoutMs} ms; so far ${all.map((e) => e.event).join(' ')}`)));
    call.on('error', fail).end();
  });
}

/** Bytes as they are, over a socket of their own; what the server answered until it closed or was silent for a while. */
export function rawExchange(ready: Ready, text: string, quietMs = 500): Promise<string> {
  const { hostname, port } = new URL(ready.api_url);
  return new Promise((give) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(text));
    const finish = (): void => {
      socket.destroy();
      give(Buffer.concat(chunks).toString('latin1'));
    };
    socket.setTimeout(PATIENCE_MS, finish);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      socket.setTimeout(quietMs, finish);
    });
    socket.on('error', finish).on('close', finish);
  });
}

/** Ask until the answer has this status. */
export async function until(call: () => Promise<{ status: number; text: string }>, status: number, timeoutMs = PATIENCE_MS): Promise<any> {
  for (const end = Date.now() + timeoutMs; ; await sleep(50)) {
    const reply = await call();
    if (reply.status === status) return (reply as any).json;
    if (Date.now() > end) throw new Error(`still ${reply.status} after ${timeoutMs} ms: ${reply.text.slice(0, 300)}`);
  }
}

/** One statement as PostgreSQL's superuser: what is really stored, and what no route can bring about, as time that has passed. */
export function psql(ready: Ready, text: string): string {
  const secret = ['postgres', 'pg-superuser', 'pg-postgres', 'postgres.password'].map((n) => resolve(ready.data_dir, 'secrets', n)).find(existsSync);
  const env = { ...process.env, PGHOST: ready.pg.socket_dir, PGPORT: String(ready.pg.port), PGUSER: 'postgres', PGDATABASE: 'falaj',
    ...(secret ? { PGPASSWORD: readFileSync(secret, 'utf8').trim() } : {}) };
  const maxBuffer = 256 << 20; // the log of a platform that many files share outgrows the usual 1 MiB
  return execFileSync('psql', ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-c', text], { env, encoding: 'utf8', maxBuffer }).trim();
}

/** Bodies of the audit events that hold this text, in order: only those, since a shared platform has many. */
export function eventsWith(ready: Ready, text: string): any[] {
  const rows = psql(ready, `SELECT convert_from(body, 'UTF8') FROM audit_event
    WHERE position('${text}' IN convert_from(body, 'UTF8')) > 0 ORDER BY ord`);
  return rows.split('\n').filter(Boolean).map((row) => JSON.parse(row));
}
