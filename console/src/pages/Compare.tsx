// SPDX-License-Identifier: Apache-2.0
// Compare.tsx - from 2 to 50 runs, named in the address: what differs, what came out, their curves, and pictures of both. Rows come first;
// curves are read when somebody asks for them.
import { Button, Tab, Tabs, TabTitleText } from '@patternfly/react-core';
import { useQueries } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { get } from '../api/client.ts';
import { diff } from '../lib/beside.ts';
import { csvText, saveAs } from '../lib/csv.ts';
import { columnsOf, cell, labels, nameOf, packIds, runOf, RUNS_MAX, unpackIds } from '../lib/runs.ts';
import type { Search } from '../lib/search.ts';
import { State, To } from '../ui/bits.tsx';
import { DiffTable } from '../ui/diff.tsx';
import { Page } from '../ui/page.tsx';
import { Empty, Loading } from '../ui/states.tsx';
import { Results } from './experiments/Results.tsx';
import './experiments/experiments.css';
import { RegisterButton } from './models/Register.tsx';

const Curves = lazy(() => import('./experiments/Curves.tsx'));
const Pictures = lazy(() => import('./experiments/pictures.tsx'));
const PARTS = ['results', 'settings', 'curves', 'pictures'] as const;

export function Compare() {
  const { t } = useTranslation();
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const ids = unpackIds(search['runs']).slice(0, RUNS_MAX);
  const part = PARTS.find((x) => x === search['tab']) ?? 'results';
  const answers = useQueries({
    queries: ids.map((id) => ({
      queryKey: [`/v1/jobs/${id}`, {}],
      queryFn: () => get(`/v1/jobs/${id}`),
    })),
  });
  const waits = answers.some((a) => a.isPending);
  const stamp = answers.map((a) => a.dataUpdatedAt).join();
  // A run that is gone, or another tenant's, is left out and counted.
  const runs = useMemo(() => answers.flatMap((a) => (a.data ? [runOf(a.data)] : [])), [stamp]);
  const names = useMemo(() => labels(runs), [runs]);
  const lost = answers.filter((a) => a.isError).length;
  const put = (change: Search): void =>
    void navigate({ to: '.', search: { ...search, ...change } as never, replace: true });
  const exportCsv = (): void => {
    const columns = columnsOf(runs);
    const heads = ['run', 'name', 'state', ...columns.map(nameOf)];
    const rows = runs.map((r) => ({
      run: r.id,
      name: r.name,
      state: r.state,
      ...Object.fromEntries(columns.map((c) => [nameOf(c), cell(r, c)])),
    }));
    saveAs('comparison.csv', csvText(heads, rows));
  };
  const heads = runs.map((r) => (
    <To key={r.id} to={`/jobs/${r.id}?tab=config`}>
      <bdi translate="no">{names.get(r.id)}</bdi>
    </To>
  ));
  const panes = {
    results: () => <Results runs={runs} names={names} />,
    settings: () => (
      <DiffTable
        label={t('runs.settings')}
        rows={diff(runs.map((r) => r.spec))}
        heads={heads}
        keys={runs.map((r) => r.id)}
      />
    ),
    curves: () => <Curves runs={runs} names={names} />,
    pictures: () => <Pictures runs={runs} names={names} />,
  };
  return (
    <Page
      name={t('runs.title')}
      title={t('runs.title')}
      crumbs={[[t('nav.experiments'), '/experiments']]}
      api={ids.slice(0, 3).map((id) => `GET /v1/jobs/${id}`)}
      cli={ids.slice(0, 3).map((id) => `falaj job get ${id}`)}
      actions={
        <Button variant="secondary" isDisabled={runs.length === 0} onClick={exportCsv}>
          {t('list.csv')}
        </Button>
      }
    >
      {ids.length < 2 ? (
        <Empty
          title={t('runs.tooFew')}
          body={t('runs.tooFewBody')}
          action={<To to="/experiments">{t('nav.experiments')}</To>}
        />
      ) : waits ? (
        <Loading />
      ) : (
        <>
          <ul className="run-heads" aria-label={t('runs.chosen')}>
            {runs.map((r) => (
              <li key={r.id}>
                <bdi translate="no">{names.get(r.id)}</bdi>
                <State value={r.state} />
                {r.state === 'COMPLETED' && <RegisterButton run={r} variant="link" />}
                {runs.length > 2 && (
                  <Button
                    variant="link"
                    size="sm"
                    isInline
                    aria-label={t('runs.without', { name: names.get(r.id) })}
                    onClick={() => put({ runs: packIds(ids.filter((x) => x !== r.id)) })}
                  >
                    {t('runs.remove')}
                  </Button>
                )}
              </li>
            ))}
          </ul>
          {lost > 0 && <p className="lead">{t('runs.lost', { count: lost })}</p>}
          <Tabs
            className="block"
            activeKey={part}
            onSelect={(_e, key) => put({ tab: String(key) })}
            aria-label={t('runs.title')}
            mountOnEnter
            unmountOnExit
            leftScrollAriaLabel={t('act.before')}
            rightScrollAriaLabel={t('act.after')}
          >
            {PARTS.map((x) => (
              <Tab key={x} eventKey={x} title={<TabTitleText>{t(`runs.${x}`)}</TabTitleText>}>
                <div className="block">
                  <Suspense fallback={<Loading />}>{panes[x]()}</Suspense>
                </div>
              </Tab>
            ))}
          </Tabs>
        </>
      )}
    </Page>
  );
}
