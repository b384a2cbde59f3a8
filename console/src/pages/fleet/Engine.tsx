// SPDX-License-Identifier: Apache-2.0
// Engine.tsx - one outside scheduler: how it is, how it is reached, and what was asked of it with how that ended.
import { useNavigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { withQuery } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Id, Name, Pairs, State, Time, To } from '../../ui/bits.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer, Empty } from '../../ui/states.tsx';
import { ServerTable, useListSearch } from '../../ui/table.tsx';
import { EngineActs, ENGINES, hasImages, Says, stateOf } from './Engines.tsx';

function Runs({ path }: { path: `/v1/engines/${string}/runs` }) {
  const { t } = useTranslation();
  return (
    <ServerTable
      path={path}
      label={t('engines.asked')}
      rowKey={(r) => r.run_id}
      columns={[
        { name: 'job_id', label: t('engines.job'), cell: (r) => <Id value={r.job_id} /> },
        { name: 'state', label: t('col.state'), cell: (r) => <State value={r.outcome || r.state} /> },
        {
          name: 'external_id',
          label: t('engines.there'),
          cell: (r) => r.external_id && <Code>{[r.external_id, r.external_state].filter(Boolean).join(' · ')}</Code>,
        },
        { name: 'says', label: t('engines.says'), cell: (r) => <Says text={r.says} /> },
        { name: 'machine_names', label: t('engines.nodes'), cell: (r) => <Code>{r.machine_names}</Code> },
        { name: 'tries', label: t('engines.tries'), cell: (r) => number(r.tries) },
        { name: 'wanted_at', label: t('engines.since'), cell: (r) => <Time at={r.wanted_at} ago /> },
        { name: 'ended_at', label: t('engines.ended'), cell: (r) => <Time at={r.ended_at} ago /> },
        { name: 'tenant_id', label: t('engines.tenant'), cell: (r) => <Id value={r.tenant_id} />, extra: true },
        { name: 'run_id', label: t('col.id'), cell: (r) => <Id value={r.run_id} />, extra: true },
      ]}
      empty={
        <Empty title={t('engines.noRuns')} body={t('engines.noRunsBody')} cli="falaj job submit NAME --pool POOL" />
      }
    />
  );
}

export function EngineDetail() {
  const { t } = useTranslation();
  const { can } = useSession();
  const { id } = useParams({ strict: false }) as { id: string };
  const navigate = useNavigate();
  const path = `${ENGINES}/${encodeURIComponent(id)}` as const;
  const query = useGet(path, {}, { everyMs: 10_000 });
  const engine = query.data;
  const runs = `${path}/runs` as const;
  return (
    <Page
      name={engine?.name ?? id}
      title={engine ? <Name>{engine.name}</Name> : <Code>{id}</Code>}
      crumbs={[[t('nav.engines'), '/engines']]}
      api={[`GET ${path}`, `GET ${withQuery(runs, useListSearch([]))}`]}
      cli={[
        `falaj engine show ${id}`,
        `falaj engine runs ${id}`,
        ...(can('engine:manage') ? [`falaj engine disable ${id}`, `falaj engine remove ${id}`] : []),
      ]}
      actions={engine && <EngineActs engine={engine} after={() => void navigate({ to: '/engines' })} />}
    >
      <Answer of={query}>
        {(g) => {
          const containerRows: [string, ReactNode][] = [
            [t('engines.image'), <Code key="i">{g.image}</Code>],
            [t('engines.selector'), g.node_selector && <Code key="e">{g.node_selector}</Code>],
            [t('engines.tolerations'), g.tolerations && <Code key="t">{g.tolerations}</Code>],
          ];
          return (
            <>
              <Pairs
                rows={[
                  [t('col.state'), <State key="s" value={stateOf(g)} />],
                  [t('engines.says'), g.health_says && <Says key="w" text={g.health_says} />],
                  [t('engines.heard'), g.heard_at && <Time key="h" at={g.heard_at} ago />],
                  [t('col.kind'), <Code key="k">{g.kind}</Code>],
                  [
                    t('col.zone'),
                    <To key="z" to={`/zones/${g.zone}`}>
                      <Code>{g.zone}</Code>
                    </To>,
                  ],
                  [
                    t('col.pool'),
                    <To key="p" to={`/workers?zone=${g.zone}&pool=${g.pool}`}>
                      <Code>{g.pool}</Code>
                    </To>,
                  ],
                  [t('engines.machines'), number(g.machines)],
                  [t('engines.longest'), number(g.longest_seconds)],
                  [t('engines.address'), <Code key="a">{g.address}</Code>],
                  [t('engines.account'), g.account && <Code key="u">{g.account}</Code>],
                  [t('engines.credential'), g.credential && <Code key="c">{g.credential}</Code>],
                  [t('engines.authority'), g.authority && <Code key="y">{g.authority}</Code>],
                  [t('engines.place'), g.place && <Code key="l">{g.place}</Code>],
                  ...(hasImages(g) ? containerRows : []),
                  [t('engines.worker'), <Code key="x">{g.worker}</Code>],
                  [t('engines.config'), <Code key="n">{g.worker_config}</Code>],
                  [t('engines.folder'), <Code key="f">{g.folder}</Code>],
                  [t('col.id'), <Id key="id" value={g.engine_id} />],
                ]}
              />
              <h2 className="block">{t('engines.asked')}</h2>
              <Runs path={runs} />
            </>
          );
        }}
      </Answer>
    </Page>
  );
}
