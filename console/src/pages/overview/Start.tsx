// SPDX-License-Identifier: Apache-2.0
// Start.tsx - the first steps, until each has been done once or the reader puts them away.
import { Button, Card, CardBody, CardHeader, CardTitle } from '@patternfly/react-core';
import { CheckCircleIcon, CircleIcon } from '@patternfly/react-icons';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { To } from '../../ui/bits.tsx';
import './start.css';

const KEY = 'falaj.started';
const STEPS = [
  ['data', '/v1/datasets', '/datasets'],
  ['train', '/v1/jobs', '/jobs/new'],
  ['register', '/v1/models', '/models'],
  ['serve', '/v1/deployments', '/deployments'],
] as const;

const wasPutAway = (): boolean => {
  try {
    return localStorage.getItem(KEY) === 'yes';
  } catch {
    return false;
  }
};

function useHas(path: (typeof STEPS)[number][1]): boolean {
  return useGet(path, { page_size: 1 }).data?.data.length === 1;
}

export function Start() {
  const { t } = useTranslation();
  const [away, setAway] = useState(wasPutAway);
  const done = [useHas(STEPS[0][1]), useHas(STEPS[1][1]), useHas(STEPS[2][1]), useHas(STEPS[3][1])];
  if (away || done.every(Boolean)) return null;
  const putAway = (): void => {
    setAway(true);
    try {
      localStorage.setItem(KEY, 'yes');
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
        <CardTitle component="h2">{t('start.title')}</CardTitle>
      </CardHeader>
      <CardBody>
        <ol className="steps">
          {STEPS.map(([name, , to], i) => (
            <li key={name}>
              {done[i] ? <CheckCircleIcon className="is-done" /> : <CircleIcon />}
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
