// SPDX-License-Identifier: Apache-2.0
// asked.ts - what a request for approval changes: the state that it replaces, row by row beside the one it asks for.
import { diff, type DiffRow } from './beside.ts';

type Parts = Record<string, unknown>;
const partsOf = (v: unknown): Parts => (v !== null && typeof v === 'object' ? (v as Parts) : {});

/** Where what is replaced can be read, and which part of the payload replaces it; null: the act replaces nothing. */
export function replacedBy(kind: string | undefined, payload: unknown, tenantId: string | undefined) {
  const p = partsOf(payload);
  if (kind === 'zone.policy' && typeof p['zone'] === 'string')
    return { path: `/v1/zones/${encodeURIComponent(p['zone'])}/law` as const, asked: partsOf(p['law']) };
  if (kind === 'tenant.zones' && tenantId)
    return { path: `/v1/tenants/${`tnt_${tenantId.replaceAll('-', '')}`}/zones` as const, asked: p };
  return null;
}

const NAMES = ['regime', 'name', 'data_class'];
/** Lists of things with a name are told apart by it, lists of words have no order, and what is empty is not there. */
function normal(v: unknown): unknown {
  if (Array.isArray(v)) {
    if (v.length === 0) return undefined;
    if (v.every((x) => typeof x === 'string')) return [...v].sort();
    const out: Parts = {};
    for (const x of v.map(partsOf)) {
      const name = NAMES.flatMap((n) => (typeof x[n] === 'string' ? [x[n]] : [])).join(' ');
      let key = name;
      for (let n = 2; key in out; n++) key = `${name} ${n}`;
      out[key] = normal(Object.fromEntries(Object.entries(x).filter(([k]) => !NAMES.includes(k))));
    }
    return out;
  }
  if (v !== null && typeof v === 'object') {
    const kept = Object.entries(v).map(([k, x]) => [k, normal(x)] as const);
    return Object.fromEntries(kept.filter(([, x]) => x !== undefined));
  }
  return v === null || v === '' ? undefined : v;
}

/** Only what the request names at all, or would take away by not naming it. */
export function changes(now: unknown, asked: Parts, parts: readonly string[]): DiffRow[] {
  const of = (from: Parts): unknown => normal(Object.fromEntries(parts.map((k) => [k, from[k]])));
  return diff([of(partsOf(now)), of(asked)]);
}
export const PARTS: Record<string, readonly string[]> = {
  'zone.policy': ['legal_regimes', 'regulator', 'provider', 'data_classes', 'worker_cidrs', 'rules', 'clocks'],
  'tenant.zones': ['allowed_zones', 'classes'],
};
