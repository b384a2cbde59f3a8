// SPDX-License-Identifier: Apache-2.0
// Node.tsx - one machine: its facts, what runs there, and what may be done to it.
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { change } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { useLive } from '../../api/live.ts';
import { bytes, number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Id, Name, Pairs, State, Time, To } from '../../ui/bits.tsx';
import { FormButton } from '../../ui/dialogs.tsx';
import { SLUG } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer } from '../../ui/states.tsx';
import { NodeActs } from './acts.tsx';
import { Certificate, ShareLine, Skew, usePlatformVersion } from './bits.tsx';
import { ReservationTable } from './Reservations.tsx';
import { NodeWork } from './Work.tsx';
import './fleet.css';

export function NodeDetail() {
  const { t } = useTranslation();
  const { can } = useSession();
  const { id } = useParams({ strict: false }) as { id: string };
  const forget = useForget();
  const path = `/v1/nodes/${encodeURIComponent(id)}` as const;
  const query = useGet(path, {}, { everyMs: 10_000 });
  const version = usePlatformVersion();
  useLive(['nodes'], ['/v1/nodes']);
  const node = query.data;
  return (
    <Page
      name={node?.name ?? id}
      title={node ? <Name>{node.name}</Name> : <Code>{id}</Code>}
      crumbs={[[t('nav.workers'), '/workers']]}
      api={[`GET ${path}`, ...(can('node:manage') ? [`GET ${path}/work`] : [])]}
      cli={[
        `falaj node get ${id}`,
        ...(can('node:manage')
          ? [`falaj node drain ${id} --reason TEXT`, `falaj node undrain ${id} --reason TEXT`]
          : []),
      ]}
      actions={node && can('node:manage') && <NodeActs node={node} preview={<NodeWork id={node.node_id!} brief />} />}
    >
      <Answer of={query}>
        {(n) => (
          <>
            <Pairs
              rows={[
                [t('col.state'), <State key="s" value={n.state} />],
                [t('col.reason'), n.reason && <Name key="r">{n.reason}</Name>],
                [
                  t('col.zone'),
                  <To key="z" to={`/zones/${n.zone!}`}>
                    <Code>{n.zone}</Code>
                  </To>,
                ],
                [t('col.pool'), <Code key="p">{n.pool}</Code>],
                [t('workers.seen'), <Time key="h" at={n.last_seen_at} ago />],
                [t('workers.cert'), n.cert_ends_at && <Certificate key="c" node={n} />],
                [
                  t('workers.agent'),
                  <span key="v">
                    <Code>{n.version}</Code> <Skew node={n} version={version} />
                  </span>,
                ],
                [t('workers.flavor'), <Code key="f">{n.flavor}</Code>],
                [t('workers.backend'), <Code key="b">{n.backend}</Code>],
                [t('workers.engines'), n.engines && <Code key="e">{n.engines}</Code>],
                [t('workers.cpus'), number(n.cpus)],
                [t('col.memory'), bytes(n.memory_bytes)],
                [t('workers.identity'), <Code key="i">{n.identity}</Code>],
                [t('col.id'), <Id key="id" value={n.node_id} />],
                [t('workers.since'), <Time key="t" at={n.created_at} />],
              ]}
            />
            <h2 className="block">{t('workers.capacity')}</h2>
            <div className="fleet-narrow">
              <ShareLine label={t('col.slots')} share={{ used: n.used_slots, of: n.slots }} cells />
              {n.gpus > 0 && <ShareLine label={t('col.gpus')} share={{ used: n.used_gpus, of: n.gpus }} cells />}
            </div>
            {can('node:manage') && (
              <>
                <h2 className="block">{t('workers.work')}</h2>
                <NodeWork id={n.node_id!} />
              </>
            )}
            {can('reservation:read') && (
              <>
                <h2 className="block">{t('reserve.of')}</h2>
                <ReservationTable node={n.node_id!} />
              </>
            )}
            {can('node:manage') && (
              <p className="block">
                <FormButton
                  variant="secondary"
                  label={t('workers.setFlavor')}
                  title={t('workers.setFlavor')}
                  lead={<p className="effect">{t('workers.flavorHelp')}</p>}
                  fields={[{ name: 'flavor', label: t('workers.flavor'), required: true, pattern: SLUG }]}
                  initial={{ flavor: n.flavor ?? '' }}
                  onSubmit={async (v) => {
                    await change('PUT', `${path}/flavor`, { flavor: v['flavor'] });
                    await forget('/v1/nodes');
                  }}
                />
              </p>
            )}
          </>
        )}
      </Answer>
    </Page>
  );
}
