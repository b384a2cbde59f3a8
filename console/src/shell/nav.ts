// SPDX-License-Identifier: Apache-2.0
// nav.ts - the pages there are: who sees them, and the letter that leads there after "g". A page that is not here does not exist.
export interface Item {
  to: string;
  key: string;
  perm?: string;
  letter?: string;
  /** Of the platform's own people only: a role of the same name in a tenant does not reach it. */
  platform?: boolean;
}
export interface Who {
  can: (permission: string) => boolean;
  me: { tenant_id: string | null };
}
export interface Group {
  key: string;
  items: Item[];
}

export const NAV: Group[] = [
  {
    key: 'nav.work',
    items: [
      { to: '/', key: 'nav.overview', letter: 'o' },
      { to: '/jobs', key: 'nav.jobs', perm: 'job:read', letter: 'j' },
      { to: '/arrays', key: 'nav.arrays', perm: 'job:read' },
      { to: '/queue', key: 'nav.clock', perm: 'job:read', letter: 'l' },
      { to: '/experiments', key: 'nav.experiments', perm: 'job:read', letter: 'e' },
      { to: '/datasets', key: 'nav.datasets', perm: 'dataset:read', letter: 'd' },
      { to: '/models', key: 'nav.models', perm: 'model:read', letter: 'm' },
      { to: '/deployments', key: 'nav.deployments', perm: 'deployment:read', letter: 'p' },
    ],
  },
  {
    key: 'nav.platform',
    items: [
      { to: '/workers', key: 'nav.workers', perm: 'node:read', letter: 'w' },
      { to: '/cluster', key: 'nav.cluster', perm: 'node:read' },
      { to: '/reservations', key: 'nav.reservations', perm: 'reservation:read' },
      { to: '/engines', key: 'nav.engines', perm: 'engine:read' },
      { to: '/tenants', key: 'nav.tenants', perm: 'tenant:read', letter: 'n', platform: true },
      { to: '/zones', key: 'nav.zones', perm: 'zone:read', letter: 'z' },
      { to: '/residency', key: 'nav.residency', perm: 'zone:read', letter: 'y' },
      { to: '/prices', key: 'nav.prices', perm: 'price:set', letter: 'b' },
      { to: '/keys', key: 'nav.keys', perm: 'key:read', letter: 'k' },
      { to: '/root-keys', key: 'nav.rootKeys', perm: 'key:root', letter: 'x' },
      { to: '/queue/platform', key: 'nav.clock', perm: 'system:inspect', platform: true },
      { to: '/health', key: 'nav.health', perm: 'system:inspect', letter: 'h' },
    ],
  },
  {
    key: 'nav.govern',
    items: [
      { to: '/audit', key: 'nav.audit', perm: 'audit:read', letter: 'a' },
      { to: '/evidence', key: 'nav.evidence', perm: 'evidence:read', letter: 'v' },
      { to: '/approvals', key: 'nav.approvals', perm: 'approval:read', letter: 'i' },
    ],
  },
  {
    key: 'nav.organisation',
    items: [
      { to: '/members', key: 'nav.members', perm: 'user:read', letter: 'u' },
      { to: '/projects', key: 'nav.projects', perm: 'project:read', letter: 'r' },
      { to: '/tokens', key: 'nav.tokens', perm: 'token:own', letter: 't' },
      { to: '/quotas', key: 'nav.quotas', perm: 'quota:read', letter: 'q' },
      { to: '/environments', key: 'nav.environments', perm: 'environment:read' },
      { to: '/shared-environments', key: 'nav.sharedEnvironments', perm: 'environment:shared' },
      { to: '/secrets', key: 'nav.secrets', perm: 'secret:read', letter: 'c' },
      { to: '/queues', key: 'nav.queues', perm: 'queue:read', letter: 'f' },
      { to: '/notifications', key: 'nav.notices' },
      { to: '/settings', key: 'nav.settings', letter: 's' },
    ],
  },
];
/** Who runs machines works for the platform: what is the platform's comes first. A tenant's keys are not theirs. */
export function groupsFor({ can, me }: Who): Group[] {
  const staff = can('node:manage');
  const isFor = (i: Item): boolean =>
    (i.perm === undefined || can(i.perm)) && !(i.platform && me.tenant_id) && !(staff && i.to === '/keys');
  const own = NAV.map((g) => ({ ...g, items: g.items.filter(isFor) })).filter((g) => g.items.length > 0);
  return staff ? [...own].sort((a, b) => Number(b.key === 'nav.platform') - Number(a.key === 'nav.platform')) : own;
}
export const itemsFor = (who: Who): Item[] => groupsFor(who).flatMap((g) => g.items);

/** What can be made, and where: `new` in the address opens the form of that name. */
export interface Create {
  to: string;
  key: string;
  perm: string;
  search?: Record<string, string>;
}
const CREATES: Create[] = [
  { to: '/jobs/new', key: 'nav.newJob', perm: 'job:submit' },
  { to: '/datasets', key: 'nav.newDataset', perm: 'dataset:write', search: { new: 'dataset' } },
  { to: '/models', key: 'nav.newModel', perm: 'model:write', search: { new: 'model' } },
  { to: '/deployments', key: 'nav.newDeployment', perm: 'deployment:write', search: { new: 'deployment' } },
  { to: '/workers/join', key: 'nav.newNode', perm: 'node:manage', search: { new: 'join' } },
  { to: '/tenants', key: 'nav.newTenant', perm: 'tenant:create', search: { new: 'tenant' } },
  { to: '/zones', key: 'nav.newZone', perm: 'zone:create', search: { new: 'zone' } },
  { to: '/projects', key: 'nav.newProject', perm: 'project:manage', search: { new: 'project' } },
  { to: '/members', key: 'nav.invite', perm: 'user:manage', search: { new: 'invitation' } },
  { to: '/tokens', key: 'nav.newToken', perm: 'token:own', search: { new: 'token' } },
  { to: '/tokens', key: 'nav.newService', perm: 'token:service', search: { tab: 'services', new: 'service' } },
  { to: '/quotas', key: 'nav.newBudget', perm: 'budget:set', search: { tab: 'budgets', new: 'budget' } },
  { to: '/quotas', key: 'nav.newRule', perm: 'quota:set-own', search: { tab: 'rules', new: 'rule' } },
  { to: '/prices', key: 'nav.newPrice', perm: 'price:set', search: { new: 'price' } },
  { to: '/residency', key: 'nav.newPolicy', perm: 'transfer:propose', search: { tab: 'policies', new: 'policy' } },
  { to: '/audit/holds', key: 'nav.newHold', perm: 'audit:hold', search: { new: 'hold' } },
  { to: '/audit/legal-clocks', key: 'nav.newLegalClock', perm: 'clock:manage', search: { new: 'clock' } },
  { to: '/queues', key: 'nav.newQueue', perm: 'queue:manage', search: { new: 'queue' } },
  { to: '/secrets', key: 'nav.newSecret', perm: 'secret:manage', search: { new: 'secret' } },
  { to: '/notifications', key: 'nav.newWebhook', perm: 'notification:manage', search: { new: 'webhook' } },
  { to: '/settings', key: 'nav.newProvider', perm: 'identity:manage', search: { tab: 'sso', new: 'provider' } },
];
export const createsFor = (can: (p: string) => boolean): Create[] => CREATES.filter((c) => can(c.perm));
