// SPDX-License-Identifier: Apache-2.0
// client.ts - the one door to the API. Each call is typed by its address (paths.ts, from the OpenAPI document); the only
// assertions of what came stand here.
//
// Changes carry the session's X-CSRF-Token and, where they are POST, an Idempotency-Key that stays the same when the call is
// repeated. A session that is over, and an act that wants a fresh proof, ask the person (askFor) and then repeat the call: what
// was typed is still there. get and change throw a Problem and give the body otherwise.
import { Problem } from './problem.ts';
import type { components } from './gen/schema.ts';
import type { Answer, Asked, FromAddress, ItemOf, Method, Sent } from './paths.ts';

export type Schemas = components['schemas'];
export type Session = Schemas['session_out'];
export interface Page<T> {
  data: T[];
  next_page_token?: string;
}

type Ask = (what: 'login' | 'proof') => Promise<boolean>;
let csrf = '';
let ask: Ask = () => Promise.resolve(false);
let asking: Promise<boolean> | null = null;
const watchers = new Set<(up: boolean) => void>();
let up = true;
/** Below /v1/auth a refusal speaks of what was typed, but for these: they are acts of who is signed in, and may want a fresh proof. */
const ACTS = /^\/v1\/auth\/(mfa\/totp|break-glass(\/open)?)$/;

export const setCsrf = (token: string): void => void (csrf = token);
/** What a change carries that is not sent by this client. */
export const changeHeaders = (): Record<string, string> => ({
  'idempotency-key': crypto.randomUUID(),
  ...(csrf ? { 'x-csrf-token': csrf } : {}),
});
export const setAsk = (f: Ask): void => void (ask = f);
export const isUp = (): boolean => up;
export function watchConnection(f: (up: boolean) => void): () => void {
  watchers.add(f);
  return () => void watchers.delete(f);
}
function tell(now: boolean): void {
  if (now === up) return;
  up = now;
  for (const f of watchers) f(now);
  if (!now) void heal();
}
/** The browser says itself that it is offline. */
export const lost = (): void => tell(false);
const answers = (): Promise<boolean> =>
  fetch('/healthz', { cache: 'no-store' }).then(
    (r) => r.ok,
    () => false,
  );
async function heal(): Promise<void> {
  while (!up) {
    await new Promise((done) => setTimeout(done, 3000));
    if (await answers()) tell(true);
  }
}
/** Part of the console itself that could not be read: an ordinary failure where Falaj answers, otherwise that of being offline,
 *  which the page shows in its place. A router that took it for a new version would load the page again, in vain. */
export async function orOffline(failed: unknown): Promise<never> {
  if (await answers()) throw failed;
  tell(false);
  throw new Problem(0, undefined);
}
/** One question at a time, however many calls wait for its answer. */
function askFor(what: 'login' | 'proof'): Promise<boolean> {
  asking ??= ask(what).finally(() => void (asking = null));
  return asking;
}

async function send(request: Request): Promise<Response> {
  const again = request.clone();
  const changes = request.method !== 'GET';
  if (request.method === 'POST' && !request.headers.has('idempotency-key')) {
    const key = crypto.randomUUID();
    request.headers.set('idempotency-key', key);
    again.headers.set('idempotency-key', key);
  }
  if (changes && csrf) request.headers.set('x-csrf-token', csrf);
  let response: Response;
  try {
    response = await fetch(request);
  } catch {
    tell(false);
    throw new Problem(0, undefined);
  }
  tell(true);
  const own = new URL(request.url).pathname;
  if ((response.status === 401 || response.status === 403) && (!own.startsWith('/v1/auth/') || ACTS.test(own))) {
    const code = (
      (await response
        .clone()
        .json()
        .catch(() => ({}))) as { code?: string }
    ).code;
    const what = response.status === 401 ? 'login' : code === 'mfa_required' ? 'proof' : null;
    if (what && (await askFor(what))) return send(again);
  }
  return response;
}

export type Query = Record<string, string | number | undefined>;
export type { FromAddress };

/** One reading. Its type follows from the address: see paths.ts. */
export async function get<A extends string>(
  path: A,
  ...[query, init]: Asked<A, [RequestInit]>
): Promise<Answer<'GET', A>> {
  return (await bodyOf(withQuery(path, query ?? {}), init ?? {})) as Answer<'GET', A>;
}
/** One page of a list. */
export async function getPage<A extends string>(path: A, ...[query]: Asked<A>): Promise<Page<ItemOf<A>>> {
  return (await bodyOf(withQuery(path, query ?? {}), {})) as Page<ItemOf<A>>;
}
async function bodyOf(path: string, init: RequestInit): Promise<unknown> {
  const text = await (await getResponse(path, init)).text();
  return text === '' ? undefined : safeJson(text);
}
/** What the platform says of its parts: an answer too where it is not ready (503). */
export const readiness = async (): Promise<Answer<'GET', '/readyz'>> =>
  (await (await fetch('/readyz', { cache: 'no-store' })).json()) as Answer<'GET', '/readyz'>;
/** An answer that went well, its body not read yet. */
export async function getResponse(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await send(new Request(new URL(path, location.origin), init));
  if (response.ok) return response;
  throw problemOf(response.status, await response.text(), response.headers.get('retry-after'));
}
export const problemOf = (status: number, text: string, retryAfter: string | null): Problem =>
  new Problem(status, text === '' ? undefined : safeJson(text), Number(retryAfter ?? 0));
/** A change by its address; `body` is JSON unless it is a Blob. */
export async function change<M extends Exclude<Method, 'GET'>, A extends string>(
  method: M,
  path: A,
  ...[body, headers]: Sent<M, A>
): Promise<Answer<M, A>> {
  const raw = body instanceof Blob;
  const init = {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': raw ? body.type : 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: raw ? body : JSON.stringify(body) }),
  };
  return (await bodyOf(path, init)) as Answer<M, A>;
}
/** The header of a change to what was read at this version. */
export const ifMatch = (version: number): { 'if-match': string } => ({ 'if-match': `"v${version}"` });
export function withQuery(path: string, query: object): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) if (v !== undefined && v !== '') q.set(k, String(v));
  return q.size > 0 ? `${path}?${q.toString()}` : path;
}
function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
