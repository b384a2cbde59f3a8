// SPDX-License-Identifier: Apache-2.0
// router.tsx - the addresses. Each page is a chunk of its own, read when somebody goes there.
import { PageSection } from '@patternfly/react-core';
import {
  createBrowserHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
} from '@tanstack/react-router';
import { orOffline } from './api/client.ts';
import { withWords, type Pack } from './i18n.ts';
import { paintFirst } from './lib/afterpaint.ts';
import { readSearch, writeSearch } from './lib/search.ts';
import { Shell } from './shell/Shell.tsx';
import { Failure, Loading, NotFound } from './ui/states.tsx';

const section = (what: React.ReactNode) => <PageSection isFilled>{what}</PageSection>;
const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => section(<NotFound />),
  errorComponent: ({ error, reset }) => section(<Failure problem={error} retry={reset} />),
});
/** Pages whose code could not be read, each with how it is read again. */
const unread = new Set<() => Promise<void> | undefined>();
/** The page's packs of words are named beside it: those of all that it draws. */
const page = (path: string, words: readonly Pack[], load: () => Promise<Record<string, unknown>>, name: string) => {
  const read = withWords(words, load as () => Promise<Record<string, RouteComponent>>);
  const component = lazyRouteComponent(() => read().catch(missed), name);
  const again = (): Promise<void> | undefined => component.preload?.();
  function missed(failed: unknown): Promise<never> {
    unread.add(again);
    return orOffline(failed);
  }
  return createRoute({ getParentRoute: () => root, path, component });
};
/** A component keeps the failure of its reading; drawing it again alone would fail the same. */
async function retry(reset: () => void): Promise<void> {
  const all = [...unread];
  unread.clear();
  await Promise.all(all.map((f) => f()));
  reset();
}

const routes = [
  page('/', ['costs', 'health'], () => import('./pages/Overview.tsx'), 'Overview'),
  page('/jobs', ['work'], () => import('./pages/Jobs.tsx'), 'Jobs'),
  page('/jobs/new', ['data', 'work'], () => import('./pages/submit/Submit.tsx'), 'Submit'),
  page('/jobs/$id', ['audit', 'data', 'work'], () => import('./pages/Job.tsx'), 'JobDetail'),
  page('/arrays', ['work'], () => import('./pages/arrays/Arrays.tsx'), 'Arrays'),
  page('/arrays/$id', ['work'], () => import('./pages/arrays/Array.tsx'), 'ArrayDetail'),
  page('/queue', ['work'], () => import('./pages/clock/Clock.tsx'), 'Clock'),
  page('/queue/platform', ['work'], () => import('./pages/clock/Clock.tsx'), 'PlatformClock'),
  page('/experiments', ['data', 'work'], () => import('./pages/Experiments.tsx'), 'Experiments'),
  page('/experiments/compare', ['data', 'work'], () => import('./pages/Compare.tsx'), 'Compare'),
  page('/datasets', ['data', 'work'], () => import('./pages/datasets/Datasets.tsx'), 'Datasets'),
  page('/datasets/$id', ['data', 'work'], () => import('./pages/datasets/Dataset.tsx'), 'DatasetDetail'),
  page(
    '/datasets/$id/passport',
    ['audit', 'data', 'keyring', 'passport', 'zones'],
    () => import('./pages/passport/Passport.tsx'),
    'DatasetPassport',
  ),
  page('/models', ['data'], () => import('./pages/models/Models.tsx'), 'Models'),
  page('/models/$id', ['data', 'work'], () => import('./pages/models/Model.tsx'), 'ModelDetail'),
  page('/deployments', ['data'], () => import('./pages/deployments/Deployments.tsx'), 'Deployments'),
  page('/deployments/$id', ['data'], () => import('./pages/deployments/Deployment.tsx'), 'DeploymentDetail'),
  page('/cluster', ['fleet'], () => import('./pages/fleet/Cluster.tsx'), 'Cluster'),
  page('/workers', ['fleet'], () => import('./pages/fleet/Workers.tsx'), 'Workers'),
  page('/workers/join', ['fleet', 'people'], () => import('./pages/fleet/Join.tsx'), 'Join'),
  page('/reservations', ['fleet'], () => import('./pages/fleet/Reservations.tsx'), 'Reservations'),
  page('/engines', ['fleet'], () => import('./pages/fleet/Engines.tsx'), 'Engines'),
  page('/engines/$id', ['fleet'], () => import('./pages/fleet/Engine.tsx'), 'EngineDetail'),
  page('/workers/$id', ['fleet'], () => import('./pages/fleet/Node.tsx'), 'NodeDetail'),
  page('/zones', ['fleet', 'zones'], () => import('./pages/zones/Zones.tsx'), 'Zones'),
  page('/zones/$code', ['fleet', 'zones'], () => import('./pages/zones/Zone.tsx'), 'ZoneDetail'),
  page('/tenants', ['zones'], () => import('./pages/tenants/Tenants.tsx'), 'Tenants'),
  page('/tenants/$id', ['fleet', 'zones'], () => import('./pages/tenants/Tenant.tsx'), 'TenantDetail'),
  page('/health', ['health', 'keyring'], () => import('./pages/health/Health.tsx'), 'Health'),
  page('/residency', ['zones'], () => import('./pages/zones/Residency.tsx'), 'Residency'),
  page('/residency/what-if', ['zones'], () => import('./pages/zones/WhatIf.tsx'), 'WhatIf'),
  page('/keys', ['audit', 'data', 'keyring'], () => import('./pages/keys/Keys.tsx'), 'Keys'),
  page('/keys/$zone/versions/$version', ['data', 'keyring'], () => import('./pages/keys/Radius.tsx'), 'KeyRadius'),
  page('/keys/$zone', ['data', 'keyring'], () => import('./pages/keys/Detail.tsx'), 'KeyDetail'),
  page('/root-keys', ['keyring', 'zones'], () => import('./pages/keys/Roots.tsx'), 'RootZones'),
  page('/root-keys/$zone', ['keyring', 'zones'], () => import('./pages/keys/Roots.tsx'), 'RootKeys'),
  page('/audit', ['audit'], () => import('./pages/audit/Explorer.tsx'), 'Audit'),
  page('/audit/verify', ['audit'], () => import('./pages/audit/Verify.tsx'), 'Verify'),
  page('/audit/proof', ['audit'], () => import('./pages/audit/Proof.tsx'), 'Proof'),
  page('/audit/passports', ['audit'], () => import('./pages/passport/Passports.tsx'), 'Passports'),
  page('/audit/exports', ['audit'], () => import('./pages/audit/Exports.tsx'), 'Exports'),
  page('/audit/heads', ['audit'], () => import('./pages/audit/Heads.tsx'), 'Heads'),
  page('/audit/holds', ['audit'], () => import('./pages/audit/Holds.tsx'), 'Holds'),
  page('/audit/legal-clocks', ['audit'], () => import('./pages/audit/LegalClocks.tsx'), 'LegalClocks'),
  page('/audit/retention', ['audit'], () => import('./pages/audit/Retention.tsx'), 'Retention'),
  page('/audit/erasures', ['audit'], () => import('./pages/audit/Erasures.tsx'), 'Erasures'),
  page('/audit/persons/$id', ['audit'], () => import('./pages/audit/PersonData.tsx'), 'PersonData'),
  page('/audit/summary', ['audit'], () => import('./pages/audit/Summary.tsx'), 'Summary'),
  page(
    '/evidence',
    ['approvals', 'audit', 'evidence', 'keyring', 'zones'],
    () => import('./pages/evidence/Evidence.tsx'),
    'EvidenceReport',
  ),
  page('/evidence/transfers', ['audit', 'evidence'], () => import('./pages/evidence/Transfers.tsx'), 'Transfers'),
  page('/approvals', ['approvals', 'audit', 'people'], () => import('./pages/Approvals.tsx'), 'Approvals'),
  page('/members', ['people'], () => import('./pages/members/Members.tsx'), 'Members'),
  page('/members/$id', ['people'], () => import('./pages/members/Member.tsx'), 'Member'),
  page('/projects', ['people'], () => import('./pages/members/Projects.tsx'), 'Projects'),
  page('/tokens', ['people'], () => import('./pages/tokens/Tokens.tsx'), 'Tokens'),
  page('/quotas', ['costs'], () => import('./pages/Quotas.tsx'), 'Quotas'),
  page('/queues', ['costs'], () => import('./pages/queues/Queues.tsx'), 'Queues'),
  page('/queues/$id', ['costs'], () => import('./pages/queues/Queue.tsx'), 'QueueDetail'),
  page('/environments', ['work'], () => import('./pages/environments/Environments.tsx'), 'Environments'),
  page('/environments/$id', ['work'], () => import('./pages/environments/Environment.tsx'), 'EnvironmentDetail'),
  page('/shared-environments', ['work'], () => import('./pages/environments/Shared.tsx'), 'SharedEnvironments'),
  page(
    '/shared-environments/$id',
    ['work'],
    () => import('./pages/environments/Shared.tsx'),
    'SharedEnvironmentDetail',
  ),
  page('/secrets', ['work'], () => import('./pages/secrets/Secrets.tsx'), 'Secrets'),
  page('/secrets/$id', ['work'], () => import('./pages/secrets/Secret.tsx'), 'SecretDetail'),
  page('/notifications', ['notify'], () => import('./pages/notices/Notifications.tsx'), 'Notifications'),
  page('/device', ['door'], () => import('./pages/Device.tsx'), 'Device'),
  page('/prices', ['costs'], () => import('./pages/Quotas.tsx'), 'PriceBook'),
  page('/settings', ['door', 'people'], () => import('./pages/settings/Settings.tsx'), 'Settings'),
];
export const router = createRouter({
  history: paintFirst(createBrowserHistory()),
  routeTree: root.addChildren(routes),
  parseSearch: readSearch,
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  scrollRestoration: false,
  defaultPendingComponent: () => section(<Loading />),
  defaultErrorComponent: ({ error, reset }) => section(<Failure problem={error} retry={() => void retry(reset)} />),
});
