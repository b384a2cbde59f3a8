// SPDX-License-Identifier: Apache-2.0
// upload.ts - a file to the API with its progress, which fetch cannot tell. A small one goes as one body; a larger one in parts, each told
// by its offset, so that a lost connection costs the part that was under way. Nothing is remembered here: the API knows the own open
// uploads with their sizes and digests, so the same file goes on where it was after a reload too.
import { change, changeHeaders, get, problemOf, withQuery, type Schemas } from './client.ts';
import type { Answer, Method } from './paths.ts';
import { Problem } from './problem.ts';

export type Version = Schemas['dataset_version'];
export type Started = Schemas['upload'];
export type Format = NonNullable<Started['format']>;

/** The formats of data sets, with the type and the extension of each. */
export const FORMATS: Record<Format, { type: string; extension: string }> = {
  csv: { type: 'text/csv', extension: 'csv' },
  npy: { type: 'application/octet-stream', extension: 'npy' },
  tokens: { type: 'application/octet-stream', extension: 'tokens' },
  onnx: { type: 'application/octet-stream', extension: 'onnx' },
  oci: { type: 'application/octet-stream', extension: 'tar' },
};
const BEGINNINGS: [string, Format][] = [
  ['\u0093NUMPY', 'npy'],
  ['FTOK', 'tokens'],
  ['\u0088\u00d8\u0034\u0001', 'tokens'],
  ['\u0008', 'onnx'],
];
/** By how the file begins, as the platform's own tools tell it. */
export async function formatOf(file: Blob): Promise<Format> {
  const head = String.fromCharCode(...new Uint8Array(await file.slice(0, 8).arrayBuffer()));
  if ((await file.slice(257, 262).text()) === 'ustar') return 'oci';
  return BEGINNINGS.find(([begins]) => head.startsWith(begins))?.[1] ?? 'csv';
}

export const ONE_BODY_MAX = 4 * 1024 * 1024;
export const SIZE_MAX = 1024 * 1024 * 1024; // as the API has it
const PART_MIN = 256 * 1024;
const PAUSES_S = [1, 2, 4, 8, 15];
const LOOK_S = 0.5;

/** One body on its way. The session is looked at before it, so that a login in between costs no second sending. */
function put<M extends Method, A extends string>(
  method: M,
  path: A,
  query: Record<string, number | string>,
  body: Blob,
  type: string,
  onProgress: (sent: number) => void,
  signal: AbortSignal,
): Promise<Answer<M, A>> {
  return new Promise((done, fail) => {
    const call = new XMLHttpRequest();
    const stop = (): void => call.abort();
    call.open(method, withQuery(path, query));
    for (const [k, v] of Object.entries(changeHeaders())) call.setRequestHeader(k, v);
    call.setRequestHeader('content-type', type);
    call.upload.onprogress = (e) => onProgress(e.loaded);
    call.onload = () => {
      if (call.status >= 200 && call.status < 300) done(JSON.parse(call.responseText) as Answer<M, A>);
      else fail(problemOf(call.status, call.responseText, call.getResponseHeader('retry-after')));
    };
    call.onerror = () => fail(problemOf(0, '', null));
    call.onabort = () => fail(new DOMException('', 'AbortError'));
    call.onloadend = () => signal.removeEventListener('abort', stop);
    signal.throwIfAborted();
    signal.addEventListener('abort', stop);
    call.send(body);
  });
}

export async function sendWhole(
  dataset: string,
  file: Blob,
  format: Format,
  onProgress: (sent: number) => void,
  signal: AbortSignal,
): Promise<Version> {
  await get('/v1/me');
  const { type } = FORMATS[format];
  return put('POST', `/v1/datasets/${dataset}/versions`, { format }, file, type, onProgress, signal);
}

/** This file's own upload to this data set, if one is open. */
export async function findStarted(
  dataset: string,
  size: number,
  digest: string | null,
  format: Format,
): Promise<Started | null> {
  if (digest === null) return null;
  const page = await get('/v1/uploads', { dataset_id: dataset, page_size: 200 });
  return page.data.find((u) => u.size_bytes === size && u.sha256 === digest && u.format === format) ?? null;
}
export async function begin(dataset: string, size: number, digest: string | null, format: Format): Promise<Started> {
  const body = { dataset_id: dataset, size_bytes: size, format, ...(digest === null ? {} : { sha256: digest }) };
  return await change('POST', '/v1/uploads', body);
}
const read = (id: string): Promise<Started> => get(`/v1/uploads/${id}`);
export async function giveUp(id: string): Promise<void> {
  await change('DELETE', `/v1/uploads/${id}`);
}

/** What goes away by itself: no connection, a part of the platform that is down, too many calls. */
const mayPass = (p: unknown): p is Problem =>
  p instanceof Problem && (p.status === 0 || p.status >= 500 || p.status === 408 || p.status === 429);

/** A pause that a connection which is back, or the person, ends early. */
function wait(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    const over = (f: () => void) => (): void => {
      clearTimeout(timer);
      window.removeEventListener('online', back);
      signal.removeEventListener('abort', gone);
      f();
    };
    const back = over(done);
    const gone = over(() => fail(new DOMException('', 'AbortError')));
    const timer = setTimeout(back, seconds * 1000);
    window.addEventListener('online', back);
    signal.addEventListener('abort', gone);
    if (signal.aborted) gone();
  });
}

export interface Watch {
  onProgress: (sent: number) => void;
  /** All is sent: how much of it the platform has read again to check and seal it. */
  onChecked: (bytes: number) => void;
  /** The connection is lost, or is back. */
  onLost: (lost: boolean) => void;
  signal: AbortSignal;
}

/** From where the upload is to its end; it waits for a connection as long as nobody stops it. */
export async function sendParts(started: Started, file: Blob, w: Watch): Promise<Version> {
  let { offset } = started;
  let size = started.part_bytes_max;
  let failures = 0;
  const again = async (p: unknown): Promise<void> => {
    const moved = p instanceof Problem && p.code === 'conflict';
    if (!mayPass(p) && !moved) throw p;
    if (moved && failures >= PAUSES_S.length) throw p;
    if (!moved) w.onLost(true);
    w.onProgress(offset);
    size = Math.max(PART_MIN, Math.floor(size / 2));
    await wait(PAUSES_S[Math.min(failures++, PAUSES_S.length - 1)]!, w.signal);
    try {
      ({ offset } = await read(started.upload_id!));
    } catch (q) {
      if (!mayPass(q)) throw q;
    }
  };
  await get('/v1/me').catch(again);
  while (offset < started.size_bytes) {
    const part = file.slice(offset, offset + size);
    const path = `/v1/uploads/${started.upload_id}/parts` as const;
    const from = offset;
    try {
      const now = await put(
        'PUT',
        path,
        { offset },
        part,
        'application/octet-stream',
        (n) => w.onProgress(from + n),
        w.signal,
      );
      ({ offset } = now);
      failures = 0;
      w.onLost(false);
      w.onProgress(offset);
    } catch (p) {
      await again(p);
    }
  }
  return await complete(started, w);
}

/** Why an upload that was to be completed is not: as the problem that a call which waits for it would have got. */
const notCompleted = (u: Started): Problem =>
  u.state === 'REFUSED'
    ? problemOf(422, JSON.stringify({ code: 'bad_data', status: 422, detail: u.failure }), null)
    : problemOf(503, JSON.stringify({ code: 'unavailable', status: 503, detail: u.failure ?? '' }), null);

/** Asked for once, then looked at: it goes on without this page. A lost answer is found again by looking. */
async function complete(started: Started, w: Watch): Promise<Version> {
  const id = started.upload_id!;
  let now: Started | null = null;
  for (let failures = 0; ;) {
    try {
      now = now === null ? await read(id) : now;
      if (now.state === 'OPEN') now = await change('POST', `/v1/uploads/${id}/completion`);
      while (now.state === 'COMPLETING') {
        w.onLost(false);
        w.onChecked(now.completed_bytes ?? 0);
        await wait(LOOK_S, w.signal);
        now = await read(id);
      }
      if (now.state !== 'COMPLETED') throw notCompleted(now);
      const page = await get(`/v1/datasets/${started.dataset_id}/versions`, { page_size: 200 });
      return page.data.find((v) => v.version === now!.version)!;
    } catch (p) {
      if (!mayPass(p) || failures >= PAUSES_S.length) throw p;
      w.onLost(p.status === 0);
      now = null;
      await wait(PAUSES_S[failures++]!, w.signal);
    }
  }
}

/** WebCrypto wants the whole file in memory; where that is too much, the digest is not known here. */
export async function sha256(file: Blob): Promise<string | null> {
  if (file.size > SIZE_MAX) return null;
  try {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()));
    return [...digest].map((b) => b.toString(16).padStart(2, '0')).join('');
  } catch {
    return null;
  }
}
