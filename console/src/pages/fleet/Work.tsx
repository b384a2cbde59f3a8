// SPDX-License-Identifier: Apache-2.0
// Work.tsx - what a machine is busy with: whose and how much, never names of a tenant's things.
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { titleOf } from '../../lib/titles.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, shortId, State, Time, To } from '../../ui/bits.tsx';
import { Grid } from '../../ui/grid.tsx';
import { Answer } from '../../ui/states.tsx';

const SHOWN_MAX = 200;

/** Names of the organisations, for who may list them; more than a page of them stand as ids. */
function useTenantNames(): ReadonlyMap<string, string> {
  const { can } = useSession();
  const list = useGet('/v1/tenants', { page_size: SHOWN_MAX }, { enabled: can('tenant:read') });
  const { i18n } = useTranslation();
  return useMemo(
    () => new Map((list.data?.data ?? []).map((x) => [x.tenant_id!, titleOf(x, i18n.language)])),
    [list.data, i18n.language],
  );
}
function Whose({ id, names }: { id: string; names: ReadonlyMap<string, string> }) {
  const name = names.get(id);
  return name === undefined ? <Code>{shortId(id)}</Code> : <Name>{name}</Name>;
}

/** brief: in a dialog, where only what an act would touch matters. */
export function NodeWork({ id, brief = false }: { id: string; brief?: boolean }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const names = useTenantNames();
  const work = useGet(`/v1/nodes/${encodeURIComponent(id)}/work`, { page_size: SHOWN_MAX }, { everyMs: 10_000 });
  const heads = [
    t('workers.job'),
    t('col.kind'),
    t('workers.tenant'),
    t('col.state'),
    ...(brief ? [] : [t('col.slots'), t('col.gpus'), t('workers.runsSince')]),
  ];
  return (
    <Answer of={work}>
      {(page) =>
        page.data.length === 0 ? (
          <p className="effect">{t('workers.nothing')}</p>
        ) : (
          <>
            <p className="effect">
              {page.next_page_token
                ? t('workers.worksMore', { count: SHOWN_MAX })
                : t('workers.works', { count: page.data.length })}
            </p>
            <div className={brief ? 'work-box' : ''}>
              <Grid
                label={t('workers.work')}
                breakPoint={brief ? 'grid-md' : 'grid-lg'}
                heads={heads}
                rows={page.data.map((w) => ({
                  id: w.attempt_id!,
                  cells: [
                    <Code key="j">{shortId(w.job_id)}</Code>,
                    w.kind ? t(`kind.${w.kind}`) : '',
                    can('tenant:read') && !brief ? (
                      <To key="t" to={`/tenants/${w.tenant_id!}`}>
                        <Whose id={w.tenant_id!} names={names} />
                      </To>
                    ) : (
                      <Whose key="t" id={w.tenant_id!} names={names} />
                    ),
                    <State key="s" value={w.state} />,
                    ...(brief
                      ? []
                      : [number(w.slots), number(w.gpus), <Time key="a" at={w.started_at ?? w.leased_at} ago />]),
                  ],
                }))}
              />
            </div>
          </>
        )
      }
    </Answer>
  );
}
