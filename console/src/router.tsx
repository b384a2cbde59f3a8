// SPDX-License-Identifier: Apache-2.0
// router.tsx - the addresses. Each page is a chunk of its own, read when somebody goes there.
import { PageSection } from '@patternfly/react-core';
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
} from '@tanstack/react-router';
import { readSearch, writeSearch } from './lib/search.ts';
import { Shell } from './shell/Shell.tsx';
import { Failure, Loading, NotFound } from './ui/states.tsx';

const section = (what: React.ReactNode) => <PageSection isFilled>{what}</PageSection>;
const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => section(<NotFound />),
  errorComponent: ({ error, reset }) => section(<Failure problem={error} retry={reset} />),
});
const page = (path: string, load: () => Promise<Record<string, unknown>>, name: string) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(load as () => Promise<Record<string, RouteComponent>>, name),
  });

const routes = [
  page('/', () => import('./pages/Overview.tsx'), 'Overview'),
  page('/jobs', () => import('./pages/Jobs.tsx'), 'Jobs'),
  page('/jobs/new', () => import('./pages/submit/Submit.tsx'), 'Submit'),
  page('/jobs/$id', () => import('./pages/Job.tsx'), 'JobDetail'),
  page('/experiments', () => import('./pages/Experiments.tsx'), 'Experiments'),
  page('/experiments/compare', () => import('./pages/Compare.tsx'), 'Compare'),
  page('/datasets', () => import('./pages/datasets/Datasets.tsx'), 'Datasets'),
  page('/datasets/$id', () => import('./pages/datasets/Dataset.tsx'), 'DatasetDetail'),
  page('/models', () => import('./pages/models/Models.tsx'), 'Models'),
  page('/models/$id', () => import('./pages/models/Model.tsx'), 'ModelDetail'),
  page('/deployments', () => import('./pages/deployments/Deployments.tsx'), 'Deployments'),
  page('/deployments/$id', () => import('./pages/deployments/Deployment.tsx'), 'DeploymentDetail'),
  page('/workers', () => import('./pages/fleet/Workers.tsx'), 'Workers'),
  page('/workers/join', () => import('./pages/fleet/Join.tsx'), 'Join'),
  page('/workers/$id', () => import('./pages/fleet/Node.tsx'), 'NodeDetail'),
  page('/zones', () => import('./pages/zones/Zones.tsx'), 'Zones'),
  page('/zones/$code', () => import('./pages/zones/Zone.tsx'), 'ZoneDetail'),
  page('/tenants', () => import('./pages/tenants/Tenants.tsx'), 'Tenants'),
  page('/tenants/$id', () => import('./pages/tenants/Tenant.tsx'), 'TenantDetail'),
  page('/health', () => import('./pages/health/Health.tsx'), 'Health'),
  page('/residency', () => import('./pages/zones/Residency.tsx'), 'Residency'),
  page('/keys', () => import('./pages/keys/Keys.tsx'), 'Keys'),
  page('/keys/$zone', () => import('./pages/keys/Detail.tsx'), 'KeyDetail'),
  page('/root-keys', () => import('./pages/keys/Roots.tsx'), 'RootZones'),
  page('/root-keys/$zone', () => import('./pages/keys/Roots.tsx'), 'RootKeys'),
  page('/audit', () => import('./pages/audit/Explorer.tsx'), 'Audit'),
  page('/audit/verify', () => import('./pages/audit/Verify.tsx'), 'Verify'),
  page('/audit/exports', () => import('./pages/audit/Exports.tsx'), 'Exports'),
  page('/audit/heads', () => import('./pages/audit/Heads.tsx'), 'Heads'),
  page('/audit/holds', () => import('./pages/audit/Holds.tsx'), 'Holds'),
  page('/audit/retention', () => import('./pages/audit/Retention.tsx'), 'Retention'),
  page('/audit/erasures', () => import('./pages/audit/Erasures.tsx'), 'Erasures'),
  page('/audit/summary', () => import('./pages/audit/Summary.tsx'), 'Summary'),
  page('/evidence', () => import('./pages/evidence/Evidence.tsx'), 'EvidenceReport'),
  page('/evidence/transfers', () => import('./pages/evidence/Transfers.tsx'), 'Transfers'),
  page('/approvals', () => import('./pages/Approvals.tsx'), 'Approvals'),
  page('/members', () => import('./pages/members/Members.tsx'), 'Members'),
  page('/members/$id', () => import('./pages/members/Member.tsx'), 'Member'),
  page('/projects', () => import('./pages/members/Projects.tsx'), 'Projects'),
  page('/tokens', () => import('./pages/tokens/Tokens.tsx'), 'Tokens'),
  page('/quotas', () => import('./pages/Quotas.tsx'), 'Quotas'),
  page('/device', () => import('./pages/Device.tsx'), 'Device'),
  page('/prices', () => import('./pages/Quotas.tsx'), 'PriceBook'),
  page('/settings', () => import('./pages/settings/Settings.tsx'), 'Settings'),
];
export const router = createRouter({
  routeTree: root.addChildren(routes),
  parseSearch: readSearch,
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  scrollRestoration: false,
  defaultPendingComponent: () => section(<Loading />),
  defaultErrorComponent: ({ error, reset }) => section(<Failure problem={error} retry={reset} />),
});
