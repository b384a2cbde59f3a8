// SPDX-License-Identifier: Apache-2.0
// Start.tsx - the first steps of each role, until each has been done once or the reader puts them away.
import { Button, Card, CardBody, CardHeader, CardTitle } from '@patternfly/react-core';
import { CheckCircleIcon, OutlinedCircleIcon } from '@patternfly/react-icons';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { useSession } from '../../shell/session.tsx';
import { To } from '../../ui/bits.tsx';
import './start.css';

type List =
  | '/v1/budgets'
  | '/v1/datasets'
  | '/v1/deployments'
  | '/v1/identity-providers'
  | '/v1/jobs'
  | '/v1/models'
  | '/v1/nodes'
  | '/v1/prices'
  | '/v1/quota-rules'
  | '/v1/tenants'
  | '/v1/users'
  | '/v1/zones';
/** A step is done when the list has so many; four for each role. */
interface Step {
  name: string;
  list: List;
  to: string;
  least?: number;
}
const ENGINEER: Step[] = [
  { name: 'data', list: '/v1/datasets', to: '/datasets' },
  { name: 'train', list: '/v1/jobs', to: '/jobs/new' },
  { name: 'register', list: '/v1/models', to: '/models' },
  { name: 'serve', list: '/v1/deployments', to: '/deployments' },
];
const OPERATOR: Step[] = [
  { name: 'zone', list: '/v1/zones', to: '/zones' },
  { name: 'node', list: '/v1/nodes', to: '/workers/join' },
  { name: 'tenant', list: '/v1/tenants', to: '/tenants' },
  { name: 'price', list: '/v1/prices', to: '/prices' },
];
const ADMIN: Step[] = [
  { name: 'people', list: '/v1/users', to: '/members?new=invitation', least: 2 },
  { name: 'quotas', list: '/v1/quota-rules', to: '/quotas' },
  { name: 'budgets', list: '/v1/budgets', to: '/quotas?tab=budgets' },
  { name: 'signOn', list: '/v1/identity-providers', to: '/settings' },
];

const wasPutAway = (key: string): boolean => {
  try {
    return localStorage.getItem(key) === 'yes';
  } catch {
    return false;
  }
};

function useHas({ list, least = 1 }: Step): boolean {
  const page = useGet(list, { page_size: least });
  return page.isError || page.isPending || page.data.data.length >= least;
}

function Steps({ steps, title, place }: { steps: Step[]; title: string; place: string }) {
  const { t } = useTranslation();
  const [away, setAway] = useState(() => wasPutAway(place));
  // While a list is on its way its step counts as done: what has been done long ago does not flicker.
  const done = [useHas(steps[0]!), useHas(steps[1]!), useHas(steps[2]!), useHas(steps[3]!)];
  if (away || done.every(Boolean)) return null;
  const putAway = (): void => {
    setAway(true);
    try {
      localStorage.setItem(place, 'yes');
    } catch {
      /* without storage it comes back at the next visit */
    }
  };
  return (
    <Card className="block">
      <CardHeader
        actions={{
          actions: (
            <Button variant="link" onClick={putAway}>
              {t('start.away')}
            </Button>
          ),
        }}
      >
        <CardTitle component="h2">{title}</CardTitle>
      </CardHeader>
      <CardBody>
        <ol className="steps">
          {steps.map(({ name, to }, i) => (
            <li key={name}>
              {done[i] ? <CheckCircleIcon className="is-done" /> : <OutlinedCircleIcon className="is-open" />}
              <span>
                {done[i] ? t(`start.${name}`) : <To to={to}>{t(`start.${name}`)}</To>}
                <span className="lead"> {done[i] ? t('start.done') : t(`start.${name}Body`)}</span>
              </span>
            </li>
          ))}
        </ol>
      </CardBody>
    </Card>
  );
}

export function Start() {
  const { t } = useTranslation();
  const { can, me } = useSession();
  return (
    <>
      {can('zone:create') && <Steps steps={OPERATOR} title={t('start.operator')} place="falaj.started.operator" />}
      {me.tenant_id !== null && can('quota:set-own') && can('identity:manage') && (
        <Steps steps={ADMIN} title={t('start.admin')} place="falaj.started.admin" />
      )}
      {can('dataset:write') && can('job:submit') && (
        <Steps steps={ENGINEER} title={t('start.title')} place="falaj.started" />
      )}
    </>
  );
}
