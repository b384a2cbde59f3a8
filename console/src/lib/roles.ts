// SPDX-License-Identifier: Apache-2.0
// roles.ts - which roles somebody can be offered to give: those that the API would not refuse. It decides; this only does not tempt.
import { ROLES } from '../api/gen/roles.ts';

/** What everybody may do for themselves is no power to give away. */
const OWN = 'token:own';
/** Auditors and operators are appointed by who cannot act for them. */
const APPOINTED: Record<string, string> = { 'compliance-officer': 'role:grant', 'zone-operator': 'zone:create' };

export const rolesAt = (platform: boolean): string[] =>
  Object.keys(ROLES).filter((r) => ROLES[r]!.places.includes(platform ? 'platform' : 'tenant'));
export function grantable(permissions: readonly string[], platform: boolean, kind: 'person' | 'service'): string[] {
  const programs = ['service-account', 'provisioner'];
  return rolesAt(platform).filter((r) => {
    if (kind === 'person' && programs.includes(r)) return false;
    const appointed = APPOINTED[r];
    if (appointed) return permissions.includes(appointed);
    return ROLES[r]!.has.every((p) => p === OWN || permissions.includes(p));
  });
}
/** The roles of the most power first stand last: nobody gives too much by the first line of a list. */
export const modestFirst = (roles: string[]): string[] =>
  [...roles].sort((a, b) => ROLES[a]!.has.length - ROLES[b]!.has.length);
interface Held {
  role: string;
  place: string;
  valid_from?: string;
  valid_until?: string;
  mfa_age_seconds: number;
  cidrs: unknown;
  in_zones: unknown;
}
const none = (list: unknown): boolean => !Array.isArray(list) || list.length === 0;
const isAlways = (b: Held): boolean =>
  !b.valid_from && !b.valid_until && b.mfa_age_seconds === 0 && none(b.cidrs) && none(b.in_zones);
/** Without the roles that somebody has already in the whole place, under no condition: giving one again would change nothing. */
export function notHeld(roles: string[], held: readonly Held[], whole: 'platform' | 'tenant'): string[] {
  const has = new Set(held.filter((b) => b.place === whole && isAlways(b)).map((b) => b.role));
  return roles.filter((r) => !has.has(r));
}
export const permissionKey = (p: string): string => `perm.${p.replace(/[:-]/g, '_')}`;
