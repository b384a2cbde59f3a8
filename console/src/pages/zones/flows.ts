// SPDX-License-Identifier: Apache-2.0
// flows.ts - what the laws on record say of data of a class that would go from one zone to another, as a table shows it.
//
// It says how much of a basis is needed and whether a policy is in force. The verdict itself is the API's (POST /v1/residency/explain).
import type { Schemas } from '../../api/client.ts';
import type { Law } from './data.ts';

type Rule = Schemas['zone_rule'];
export type Policy = Schemas['transfer_policy'];
/** own: the same zone. barred: the zone does not take the class at all. */
export type Flow = 'own' | 'barred' | 'free' | 'basis' | 'exception';
export interface Cell {
  flow: Flow;
  /** The law that needs most; absent where no law speaks. */
  regime?: string;
  policy?: Policy;
}
const REGULATED = ['health', 'banking', 'gov'];
const OPEN = ['public', 'internal'];

const inForce = (r: Rule, now: number): boolean =>
  Date.parse(r.valid_from) <= now && (!r.valid_to || Date.parse(r.valid_to) > now);

export function flowOf(from: Law, to: Law, dataClass: string, policies: readonly Policy[], now = Date.now()): Cell {
  if (!Array.isArray(to.data_classes) || !to.data_classes.includes(dataClass)) return { flow: 'barred' };
  if (from.zone === to.zone) return { flow: 'own' };
  const rules = (Array.isArray(from.rules) ? (from.rules as Rule[]) : []).filter(
    (r) => r.data_class === dataClass && inForce(r, now),
  );
  const inland = from.country === to.country;
  let flow: Flow = 'free';
  let regime: string | undefined;
  for (const r of rules) {
    const countries = r.countries ?? [];
    const inside = countries.length > 0 ? countries.includes(to.country!) : inland;
    const needs: Flow =
      inside || r.may_leave === 'free' ? 'free' : r.may_leave === 'with_basis' ? 'basis' : 'exception';
    if (needs === 'exception' ? flow !== 'exception' : needs === 'basis' && flow === 'free') {
      flow = needs;
      regime = r.regime;
    }
  }
  if (rules.length === 0 && !inland && !OPEN.includes(dataClass))
    flow = REGULATED.includes(dataClass) ? 'exception' : 'basis';
  const policy = policies.find(
    (p) =>
      p.state === 'ACTIVE' &&
      p.from_zone === from.zone &&
      p.to_zone === to.zone &&
      p.data_class === dataClass &&
      Date.parse(p.valid_until!) > now &&
      (flow !== 'exception' || Boolean(p.exception_ref)),
  );
  return { flow, ...(regime ? { regime } : {}), ...(policy ? { policy } : {}) };
}
