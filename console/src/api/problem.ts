// SPDX-License-Identifier: Apache-2.0
// problem.ts - what the API says when it refuses (RFC 9457), as an error of the page.
import { z } from 'zod/mini';

const remedy = z.object({
  rule: z.string(),
  operation: z.string(),
  roles: z.array(z.string()),
  approved_by: z.array(z.string()),
  approved_in: z.string(),
  data_class: z.optional(z.string()),
  zone: z.optional(z.string()),
  from: z.optional(z.string()),
});
/** Where data may not be somewhere: what is missing, and who may set it. */
export type RemedyOf = z.infer<typeof remedy>;

const body = z.object({
  code: z.string(),
  title: z.optional(z.string()),
  detail: z.optional(z.string()),
  request_id: z.optional(z.string()),
  changed_at: z.optional(z.string()),
  changed_by: z.optional(z.object({ kind: z.string(), user_id: z.optional(z.string()), name: z.optional(z.string()) })),
  remedy: z.optional(remedy),
  errors: z.optional(
    z.array(
      z.object({ pointer: z.optional(z.string()), code: z.optional(z.string()), detail: z.optional(z.string()) }),
    ),
  ),
});

/** Inference servers speak so (Open Inference Protocol). */
const oip = z.object({ error: z.string() });

export interface Changed {
  at: string;
  /** user, platform or system. */
  kind: string;
  id: string;
  name: string;
}
export interface FieldFault {
  path: string;
  code: string;
  detail: string;
}

export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string;
  readonly fields: FieldFault[];
  readonly retryAfter: number;
  /** Of a change that came too late: who was faster and when, as far as the reader may know. */
  readonly changed: Changed | null;
  readonly remedy: RemedyOf | null;

  constructor(status: number, json: unknown, retryAfter = 0) {
    const read = body.safeParse(json);
    const said = oip.safeParse(json);
    super(read.success ? (read.data.detail ?? read.data.title ?? '') : said.success ? said.data.error : '');
    this.status = status;
    this.code = read.success
      ? read.data.code
      : status === 0
        ? 'offline'
        : said.success && status < 500
          ? 'unprocessable'
          : 'internal';
    this.requestId = (read.success && read.data.request_id) || '';
    this.fields = (read.success ? (read.data.errors ?? []) : [])
      .map((f) => ({ path: pointerPath(f.pointer ?? ''), code: f.code ?? 'invalid_argument', detail: f.detail ?? '' }))
      .filter((f) => f.path !== '');
    this.retryAfter = retryAfter;
    this.remedy = (read.success && read.data.remedy) || null;
    const { changed_at: at, changed_by: by } = read.success ? read.data : {};
    this.changed = at && by ? { at, kind: by.kind, id: by.user_id ?? '', name: by.name ?? '' } : null;
  }
}

/** A JSON pointer (RFC 6901), or the bare name of a parameter, as the dotted path of a form's field: "/spec/hidden/0" is "spec.hidden.0". */
export function pointerPath(pointer: string): string {
  const text = pointer.startsWith('#') ? decodeURIComponent(pointer.slice(1)) : pointer;
  return text
    .replace(/^\//, '')
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
}

/** Puts each fault at the field that owns it, or at the nearest one above it; returns those that no field of the form owns. */
export function placeFaults(
  problem: Problem,
  names: readonly string[],
  put: (name: string, fault: FieldFault) => void,
): FieldFault[] {
  return problem.fields.filter((fault) => {
    const owner = names
      .filter((n) => fault.path === n || fault.path.startsWith(`${n}.`))
      .sort((a, b) => b.length - a.length)[0];
    if (owner !== undefined) put(owner, fault);
    return owner === undefined;
  });
}

export type Face = 'forbidden' | 'busy' | 'maintenance' | 'offline' | 'failed';
/** Which of the faces of a failure it has. 503 that says when to come back is a pause, not a fault. */
export function faceOf(p: Problem): Face {
  if (p.status === 0) return 'offline';
  if (p.status === 403) return 'forbidden';
  if (p.status === 429) return 'busy';
  return p.status === 503 && p.retryAfter > 0 ? 'maintenance' : 'failed';
}
/** Seconds after which it is tried again by itself; at most ten minutes, 0: not by itself. */
export function waitOf(p: Problem): number {
  if (p.status === 429) return Math.min(600, Math.max(1, Math.ceil(p.retryAfter)));
  return faceOf(p) === 'maintenance' ? Math.min(600, Math.ceil(p.retryAfter)) : 0;
}
