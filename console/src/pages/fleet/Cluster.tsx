// SPDX-License-Identifier: Apache-2.0
// Cluster.tsx - the devices of the fleet by zone, pool and model: what there is, what is out of service, what is free and how
// broken up.
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useTranslation } from 'react-i18next';
import { useLive } from '../../api/live.ts';
import { number, percent } from '../../lib/format.ts';
import { Code, To } from '../../ui/bits.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer, Empty } from '../../ui/states.tsx';
import { blocks, type Block, type What } from './cluster-sums.ts';
import { useFleet, type Node } from './data.ts';

/** What only the platform may know is not there for others. */
const COLUMNS = ['machines', 'away', 'total', 'out', 'free', 'largest', 'broken'] as const;
const shown = (b: Block, c: (typeof COLUMNS)[number]): string =>
  c === 'broken' ? percent(b.broken ?? 0) : number(b[c] ?? 0);

/** The platform tells how much is in use; what is broken up is explained where it is shown. */
const isKnown = (nodes: readonly Node[]): boolean => nodes.every((n) => n.used_slots !== undefined);

function Part({ nodes, what }: { nodes: readonly Node[]; what: What }) {
  const { t } = useTranslation();
  const rows = blocks(nodes, what);
  const columns = COLUMNS.filter((c) => rows.every((b) => b[c] !== undefined));
  if (rows.length === 0) return null;
  return (
    <>
      <h2 className="block">{t(`col.${what}`)}</h2>
      <Table aria-label={t(`cluster.${what}`)} variant="compact" gridBreakPoint="grid-lg">
        <Thead>
          <Tr>
            <Th>{t('col.zone')}</Th>
            <Th>{t('col.pool')}</Th>
            <Th>{t('cluster.model')}</Th>
            {columns.map((c) => (
              <Th key={c}>{t(`cluster.${c}`)}</Th>
            ))}
          </Tr>
        </Thead>
        <Tbody>
          {rows.map((b) => (
            <Tr key={`${b.zone} ${b.pool} ${b.model}`}>
              <Td dataLabel={t('col.zone')}>
                <Code>{b.zone}</Code>
              </Td>
              <Td dataLabel={t('col.pool')}>
                <To to={`/workers?zone=${b.zone}&pool=${b.pool}`}>
                  <Code>{b.pool}</Code>
                </To>
              </Td>
              <Td dataLabel={t('cluster.model')}>
                <Code>{b.model}</Code>
              </Td>
              {columns.map((c) => (
                <Td key={c} dataLabel={t(`cluster.${c}`)}>
                  {shown(b, c)}
                </Td>
              ))}
            </Tr>
          ))}
        </Tbody>
      </Table>
    </>
  );
}

export function Cluster() {
  const { t } = useTranslation();
  const fleet = useFleet({});
  useLive(['nodes'], ['/v1/nodes']);
  return (
    <Page
      name={t('nav.cluster')}
      title={t('nav.cluster')}
      lead={t('cluster.lead')}
      api={['GET /v1/nodes']}
      cli={['falaj node list']}
    >
      <Answer of={fleet}>
        {(f) =>
          f.nodes.length === 0 ? (
            <Empty title={t('overview.noWorkers')} body={t('workers.emptyBody')} cli="falaj node join-token" />
          ) : (
            <>
              {f.cut && <p>{t('workers.cut', { count: f.nodes.length })}</p>}
              <Part nodes={f.nodes} what="gpus" />
              <Part nodes={f.nodes} what="slots" />
              {isKnown(f.nodes) && <p className="block">{t('cluster.brokenBody')}</p>}
            </>
          )
        }
      </Answer>
    </Page>
  );
}
