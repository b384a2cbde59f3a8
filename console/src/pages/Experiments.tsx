// SPDX-License-Identifier: Apache-2.0
// Experiments.tsx - training runs side by side: their parameters and results as columns. What is loaded is sorted and grouped here, and said so.
import {
  Button,
  Checkbox,
  FormSelect,
  FormSelectOption,
  MenuToggle,
  Popover,
  SearchInput,
  Switch,
} from '@patternfly/react-core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useGet } from '../api/hooks.ts';
import { oneOf } from '../lib/oneof.ts';
import { csvText, saveAs } from '../lib/csv.ts';
import { number } from '../lib/format.ts';
import { cell, columnsOf, nameOf, packIds, RUNS_MAX, sorted, unpackIds, usual, type Run } from '../lib/runs.ts';
import type { Search } from '../lib/search.ts';
import { MODEL_MAKER } from '../lib/jobtypes.ts';
import { useSession } from '../shell/session.tsx';
import { inMain } from '../ui/overlay.ts';
import { Page } from '../ui/page.tsx';
import { Answer, Empty } from '../ui/states.tsx';
import { RunTable } from './experiments/RunTable.tsx';
import { useKept, useRuns } from './experiments/useruns.ts';
import './experiments/experiments.css';
import { JOB_STATES } from './Jobs.tsx';
import { RegisterDialog } from './models/Register.tsx';
import { Q_MIN } from '../ui/table/usual.ts';
import { useRested } from '../ui/rested.ts';
import { titleOf } from '../lib/titles.ts';

export function Experiments() {
  const { t } = useTranslation();
  const { me, can } = useSession();
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const [kept, keep] = useKept(me.user_id ?? '');
  const [showHidden, setShowHidden] = useState(false);
  const state = oneOf(JOB_STATES, search['state']) ?? '';
  const q = search['q'] ?? '';
  const rested = useRested(q);
  // Less than the API looks for is looked for among the runs that are loaded.
  const part = q.trim().length < Q_MIN ? q.trim().toLowerCase() : '';
  const { query, runs } = useRuns(state, rested.trim().length < Q_MIN ? '' : rested.trim());
  const [registers, setRegisters] = useState<Run | null>(null);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const sets = useGet('/v1/datasets', { page_size: 200 }, { enabled: can('dataset:read') });
  const put = (name: string, value: string): void =>
    void navigate({ to: '.', search: { ...search, [name]: value } as never, replace: true });
  const chosen = unpackIds(search['runs']);
  const sort = search['sort'] ?? '-submitted';
  const dataset = search['dataset'];
  // Two thousand runs are gone through when they change, not for every letter of a filter.
  const [shown, hidden] = useMemo(() => {
    const away = new Set(kept.hidden);
    const own = runs.filter(
      (r) =>
        (showHidden || !away.has(r.id)) &&
        (!dataset || r.dataset === dataset) &&
        (part === '' || r.name.toLowerCase().includes(part)),
    );
    return [sorted(own, sort), runs.filter((r) => away.has(r.id)).length];
  }, [runs, kept.hidden, showHidden, dataset, part, sort]);
  const all = useMemo(() => columnsOf(runs), [runs]);
  const columns = useMemo(
    () => (kept.columns === null ? usual(runs) : all.filter((c) => kept.columns!.includes(c))),
    [runs, all, kept.columns],
  );
  const group = all.includes(`p:${search['group']}`) ? search['group']! : '';
  const toggle = (list: string[], x: string): string[] =>
    list.includes(x) ? list.filter((y) => y !== x) : [...list, x];
  const exportCsv = (): void => {
    const heads = ['run', 'name', 'state', 'submitted_at', ...columns.map(nameOf)];
    const rows = shown.map((r) => ({
      run: r.id,
      name: r.name,
      state: r.state,
      submitted_at: r.submitted,
      ...Object.fromEntries(columns.map((c) => [nameOf(c), cell(r, c)])),
    }));
    saveAs('experiments.csv', csvText(heads, rows));
  };
  const ready = chosen.length >= 2;
  return (
    <Page
      name={t('nav.experiments')}
      title={t('nav.experiments')}
      lead={t('runs.lead')}
      api={[`GET /v1/jobs?kind=${MODEL_MAKER}`]}
      cli={[`falaj job list --kind ${MODEL_MAKER} -o json`]}
      actions={
        <>
          {chosen.length > 0 && (
            <Button variant="link" onClick={() => put('runs', '')}>
              {t('runs.chooseNone')}
            </Button>
          )}
          {ready ? (
            <Button
              component={(p: object) => (
                <Link {...p} to={'/experiments/compare' as never} search={{ runs: packIds(chosen) } as never} />
              )}
            >
              {t('runs.compare', { n: number(chosen.length) })}
            </Button>
          ) : (
            <Button isAriaDisabled title={t('runs.chooseTwo', { max: number(RUNS_MAX) })}>
              {t('runs.compare', { n: number(chosen.length) })}
            </Button>
          )}
        </>
      }
    >
      <div className="runs-tools">
        <SearchInput
          aria-label={t('col.name')}
          placeholder={t('col.name')}
          value={q}
          onChange={(_e, v) => put('q', v)}
          onClear={() => put('q', '')}
          resetButtonLabel={t('act.clear')}
        />
        <FormSelect aria-label={t('col.state')} value={state} onChange={(_e, v) => put('state', v)}>
          <FormSelectOption value="" label={t('list.any', { what: t('col.state') })} />
          {JOB_STATES.map((s) => (
            <FormSelectOption key={s} value={s} label={t(`value.${s}`)} />
          ))}
        </FormSelect>
        <FormSelect
          aria-label={t('job.madeFrom')}
          value={search['dataset'] ?? ''}
          onChange={(_e, v) => put('dataset', v)}
        >
          <FormSelectOption value="" label={t('list.any', { what: t('job.madeFrom') })} />
          {(sets.data?.data ?? []).map((d) => (
            <FormSelectOption key={d.dataset_id} value={d.dataset_id!} label={titleOf(d)} />
          ))}
        </FormSelect>
        <FormSelect aria-label={t('runs.group')} value={group} onChange={(_e, v) => put('group', v)}>
          <FormSelectOption value="" label={t('runs.noGroup')} />
          {all
            .filter((c) => c.startsWith('p:'))
            .map((c) => (
              <FormSelectOption key={c} value={nameOf(c)} label={t('runs.groupBy', { name: nameOf(c) })} />
            ))}
        </FormSelect>
        <Popover
          aria-label={t('runs.columns')}
          showClose={false}
          position="bottom"
          appendTo={inMain}
          bodyContent={
            <div className="runs-columns">
              {all.map((c) => (
                <Checkbox
                  key={c}
                  id={`column-${c}`}
                  label={<bdi translate="no">{nameOf(c)}</bdi>}
                  isChecked={columns.includes(c)}
                  onChange={() => keep({ columns: toggle(columns, c) })}
                />
              ))}
              <Button variant="link" size="sm" onClick={() => keep({ columns: null })}>
                {t('runs.usual')}
              </Button>
            </div>
          }
        >
          <MenuToggle>{t('runs.columns')}</MenuToggle>
        </Popover>
        {hidden > 0 && (
          <Switch
            label={t('runs.showHidden', { count: hidden, n: number(hidden) })}
            isChecked={showHidden}
            onChange={(_e, on) => setShowHidden(on)}
          />
        )}
        <Button variant="secondary" isDisabled={shown.length === 0} onClick={exportCsv}>
          {t('list.csv')}
        </Button>
      </div>
      <Answer of={query}>
        {() =>
          runs.length === 0 && state === '' && q === '' ? (
            <Empty title={t('runs.empty')} body={t('runs.emptyBody')} cli="falaj job submit first --dataset NAME" />
          ) : (
            <>
              <RunTable
                runs={shown}
                columns={columns}
                sort={sort}
                onSort={(v) => put('sort', v === '-submitted' ? '' : v)}
                group={group}
                chosen={chosen}
                onChoose={(ids) => put('runs', packIds(ids))}
                pins={kept.pins}
                hidden={kept.hidden}
                onPin={(id) => keep({ pins: toggle(kept.pins, id) })}
                onHide={(id) => keep({ hidden: toggle(kept.hidden, id) })}
                onRegister={can('model:write') ? setRegisters : undefined}
                onEnd={onEnd}
              />
              <p className="lead" role="status">
                {t('runs.loaded', { count: runs.length, n: number(runs.length), shown: number(shown.length) })}
                {hasNextPage && ` ${t('runs.scrollOn')}`}
              </p>
            </>
          )
        }
      </Answer>
      {registers && <RegisterDialog run={registers} close={() => setRegisters(null)} />}
    </Page>
  );
}
