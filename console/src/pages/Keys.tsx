// SPDX-License-Identifier: Apache-2.0
// Keys.tsx - the tenant's keys, zone by zone; a zone's versions, rotation and how far data keys have moved.
import { Progress } from '@patternfly/react-core';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { change, type Page as ListOf, type Schemas } from '../api/client.ts';
import { useForget, useGet } from '../api/hooks.ts';
import { number } from '../lib/format.ts';
import { useSession } from '../shell/session.tsx';
import { Code, Pairs, State, Time, To } from '../ui/bits.tsx';
import { TypedConfirm } from '../ui/dialogs.tsx';
import { Page } from '../ui/page.tsx';
import { Answer, Empty } from '../ui/states.tsx';
import { ServerTable } from '../ui/table.tsx';

type Version = Schemas['key_version'];
type Summary = Schemas['key_summary'];

export function Keys() {
  const { t } = useTranslation();
  return (
    <Page
      name={t('nav.keys')}
      title={t('nav.keys')}
      lead={t('keyring.lead')}
      api={['GET /v1/keys']}
      cli={['falaj key list']}
    >
      <ServerTable<Summary>
        path="/v1/keys"
        label={t('nav.keys')}
        rowKey={(k) => k.zone!}
        noPages
        columns={[
          {
            name: 'zone',
            label: t('col.zone'),
            cell: (k) => (
              <To to={`/keys/${k.zone!}`}>
                <Code>{k.zone}</Code>
              </To>
            ),
          },
          { name: 'tier', label: t('keyring.tier'), cell: (k) => <Code>{k.tier}</Code> },
          { name: 'primary_version', label: t('keyring.primary'), cell: (k) => number(k.primary_version) },
          { name: 'versions', label: t('datasets.versions'), cell: (k) => number(k.versions) },
          { name: 'data_keys', label: t('keyring.dataKeys'), cell: (k) => number(k.data_keys) },
          { name: 'rotated_at', label: t('keyring.rotated'), cell: (k) => <Time at={k.rotated_at} ago /> },
          { name: 'rotate_before', label: t('keyring.before'), cell: (k) => <Time at={k.rotate_before} ago /> },
        ]}
        empty={<Empty title={t('keyring.none')} body={t('keyring.noneBody')} cli="falaj key list" />}
      />
    </Page>
  );
}

export function KeyDetail() {
  const { t } = useTranslation();
  const { can } = useSession();
  const { zone } = useParams({ strict: false }) as { zone: string };
  const forget = useForget();
  const path = `/v1/keys/${encodeURIComponent(zone)}`;
  const query = useGet<Summary>(path, {}, { everyMs: 10_000 });
  const moves = useGet<ListOf<Schemas['rewrap']>>(
    `${path}/rewraps`,
    { page_size: 5 },
    { everyMs: 5000, enabled: query.isSuccess },
  );
  return (
    <Page
      name={zone}
      title={<Code>{zone}</Code>}
      crumbs={[[t('nav.keys'), '/keys']]}
      api={[`GET ${path}`, `GET ${path}/versions`, `GET ${path}/rewraps`]}
      cli={[`falaj key versions ${zone}`, `falaj key rewraps ${zone}`, `falaj key rotate ${zone}`]}
      actions={
        query.data &&
        can('key:rotate') && (
          <TypedConfirm
            variant="secondary"
            label={t('keyring.rotate')}
            title={t('keyring.rotate')}
            name={zone}
            effect={t('keyring.rotateEffect')}
            onConfirm={async () => {
              await change('POST', `${path}/rotate`, {});
              await forget('/v1/keys');
            }}
          />
        )
      }
    >
      <Answer of={query}>
        {(k) => (
          <>
            <Pairs
              rows={[
                [t('keyring.tier'), <Code key="t">{k.tier}</Code>],
                [t('keyring.provider'), <Code key="p">{k.provider}</Code>],
                [t('keyring.primary'), number(k.primary_version)],
                [t('keyring.min'), number(k.min_version)],
                [t('keyring.dataKeys'), number(k.data_keys)],
                [t('keyring.rotated'), <Time key="r" at={k.rotated_at} />],
                [t('keyring.before'), k.rotate_before && <Time key="b" at={k.rotate_before} />],
              ]}
            />
            <h2 className="block">{t('keyring.moves')}</h2>
            <Answer of={moves}>
              {(page) =>
                page.data.length === 0 ? (
                  <p className="lead">{t('keyring.noMoves')}</p>
                ) : (
                  <>
                    {page.data.map((r) => (
                      <Progress
                        key={r.rewrap_id}
                        className="meter"
                        size="sm"
                        measureLocation="top"
                        title={t('keyring.move', { version: number(r.to_version) })}
                        value={r.total > 0 ? (100 * r.done) / r.total : 100}
                        label={t('overview.of', { used: number(r.done), limit: number(r.total) })}
                        {...(r.failed > 0 ? { variant: 'danger' as const } : {})}
                      />
                    ))}
                  </>
                )
              }
            </Answer>
            <h2 className="block">{t('datasets.versions')}</h2>
            <ServerTable<Version>
              path={`${path}/versions`}
              label={t('datasets.versions')}
              rowKey={(v) => String(v.key_version)}
              columns={[
                { name: 'key_version', label: t('col.version'), cell: (v) => number(v.key_version) },
                { name: 'state', label: t('col.state'), cell: (v) => <State value={v.state} /> },
                { name: 'origin', label: t('keyring.origin'), cell: (v) => <Code>{v.origin}</Code> },
                { name: 'root_version', label: t('keyring.root'), cell: (v) => number(v.root_version) },
                { name: 'data_keys', label: t('keyring.dataKeys'), cell: (v) => number(v.data_keys) },
                { name: 'created_at', label: t('col.created'), cell: (v) => <Time at={v.created_at} ago /> },
              ]}
              empty={<Empty title={t('keyring.none')} body={t('keyring.noneBody')} />}
            />
          </>
        )}
      </Answer>
    </Page>
  );
}
