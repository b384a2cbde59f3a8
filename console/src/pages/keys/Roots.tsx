// SPDX-License-Identifier: Apache-2.0
// Roots.tsx - a zone's root keys for its custodians: versions, what the key store says of itself, rotation and its end.
import { Label } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { Link, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { change } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { Code, Name, Pairs, State, Time, To } from '../../ui/bits.tsx';
import { TypedConfirm } from '../../ui/dialogs.tsx';
import { Note } from '../../ui/note.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer, Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { useZoneViews } from '../zones/data.ts';
import { Moves, Word } from './pieces.tsx';

/** For who runs the zones: which of them have root keys to be looked after. */
export function RootZones() {
  const { t } = useTranslation();
  const { zones, views } = useZoneViews();
  return (
    <Page
      name={t('nav.rootKeys')}
      title={t('nav.rootKeys')}
      lead={t('keyring.rootsBody')}
      api={['GET /v1/zones', 'GET /readyz']}
      cli={['falaj key roots']}
    >
      <Answer of={zones}>
        {() => (
          <Table aria-label={t('nav.rootKeys')} variant="compact" gridBreakPoint="grid-md">
            <Thead>
              <Tr>
                <Th>{t('col.zone')}</Th>
                <Th>{t('col.name')}</Th>
                <Th>{t('keyring.store')}</Th>
                <Th>{t('zones.country')}</Th>
              </Tr>
            </Thead>
            <Tbody>
              {views.map(({ zone: z, keys }) => (
                <Tr key={z.code}>
                  <Td dataLabel={t('col.zone')}>
                    <To to={`/root-keys/${z.code}`}>
                      <Code>{z.code}</Code>
                    </To>
                  </Td>
                  <Td dataLabel={t('col.name')}>
                    <Name>{z.name}</Name>
                  </Td>
                  <Td dataLabel={t('keyring.store')}>
                    <Label isCompact color={keys === 'ok' ? 'green' : keys === undefined ? 'grey' : 'orange'}>
                      {keys === 'ok' ? (
                        t('zones.keysOpen')
                      ) : keys === undefined ? (
                        t('zones.keysUnknown')
                      ) : (
                        <Code>{keys}</Code>
                      )}
                    </Label>
                  </Td>
                  <Td dataLabel={t('zones.country')}>
                    <Code>{z.country}</Code>
                  </Td>
                </Tr>
              ))}
            </Tbody>
          </Table>
        )}
      </Answer>
    </Page>
  );
}

function Yes({ on, good }: { on: boolean; good: boolean }) {
  const { t } = useTranslation();
  return (
    <Label isCompact color={on === good ? 'green' : 'orange'}>
      {t(on ? 'keyring.yes' : 'keyring.no')}
    </Label>
  );
}
function Attestation({ path }: { path: `/v1/zones/${string}/keys` }) {
  const { t } = useTranslation();
  const query = useGet(`${path}/attestation`);
  return (
    <Answer of={query}>
      {(a) => (
        <>
          {a.sealed && <Note variant="danger" title={t('keyring.storeSealed')} />}
          {!a.hardware && <Note variant="warning" title={t('keyring.soft')} />}
          <Pairs
            rows={[
              [t('keyring.provider'), <Word key="p" of="provider" value={a.provider} />],
              [t('keyring.mechanism'), <Code key="m">{a.mechanism}</Code>],
              [t('keyring.module'), a.module && <Code key="mo">{a.module}</Code>],
              [t('keyring.library'), a.library && <Code key="l">{a.library}</Code>],
              [t('keyring.tokenLabel'), a.token_label && <Code key="tl">{a.token_label}</Code>],
              [
                t('keyring.tokenModel'),
                a.token_model && <Code key="tm">{`${a.token_manufacturer} ${a.token_model}`}</Code>,
              ],
              [t('keyring.serial'), a.token_serial && <Code key="ts">{a.token_serial}</Code>],
              [t('keyring.hardware'), <Yes key="h" on={a.hardware} good />],
              [t('keyring.holds'), <Yes key="k" on={a.holds_keys} good />],
            ]}
          />
          {a.roots.map((r) => (
            <Pairs
              key={r.version}
              rows={[
                [t('col.version'), number(r.version)],
                [t('keyring.label'), r.label && <Code key="l">{r.label}</Code>],
                [t('keyring.f_sensitive'), <Yes key="s" on={r.always_sensitive} good />],
                [t('keyring.f_extractable'), <Yes key="e" on={r.extractable} good={false} />],
                [t('keyring.f_local'), <Yes key="o" on={r.local} good />],
              ]}
            />
          ))}
        </>
      )}
    </Answer>
  );
}

export function RootKeys() {
  const { t } = useTranslation();
  const forget = useForget();
  const { zone } = useParams({ strict: false }) as { zone: string };
  const path = `/v1/zones/${encodeURIComponent(zone)}/keys` as const;
  const asked = async (): Promise<void> => {
    toast(t('keyring.asked'));
    await forget('/v1/approvals');
  };
  return (
    <Page
      name={`${t('keyring.rootOf')} ${zone}`}
      title={
        <>
          {t('keyring.rootOf')} <Code>{zone}</Code>
        </>
      }
      crumbs={[[t('nav.rootKeys'), '/root-keys']]}
      lead={t('keyring.rootsBody')}
      api={[`GET ${path}`, `GET ${path}/attestation`, `GET ${path}/rewraps`, `POST ${path}/rotate`]}
      cli={[`falaj key roots ${zone}`, `falaj key attest ${zone}`, `falaj key root-rotate ${zone} --reason …`]}
      actions={
        <TypedConfirm
          variant="secondary"
          reason
          label={t('keyring.rootRotate')}
          title={t('keyring.rootRotate')}
          name={zone}
          effect={
            <>
              <p>{t('keyring.rootRotateEffect')}</p>
              <Link to="/approvals">{t('nav.approvals')}</Link>
            </>
          }
          onConfirm={async (reason) => {
            await change('POST', `${path}/rotate`, { reason });
            await asked();
          }}
        />
      }
    >
      <ServerTable
        path={path}
        label={t('nav.rootKeys')}
        rowKey={(r) => String(r.version)}
        noPages
        columns={[
          { name: 'version', label: t('col.version'), cell: (r) => number(r.version) },
          { name: 'state', label: t('col.state'), cell: (r) => <State value={r.state} /> },
          { name: 'provider', label: t('keyring.provider'), cell: (r) => <Word of="provider" value={r.provider} /> },
          { name: 'tenant_keys', label: t('keyring.tenantKeys'), cell: (r) => number(r.tenant_keys) },
          { name: 'created_at', label: t('col.created'), cell: (r) => <Time at={r.created_at} ago /> },
          {
            name: 'retired_at',
            label: t('keyring.end'),
            cell: (r) => <Time at={r.destroyed_at ?? r.retired_at} ago />,
          },
        ]}
        rowActions={(r) =>
          r.state === 'RETIRED' ? (
            <TypedConfirm
              variant="link"
              reason
              label={t('keyring.destroy')}
              title={t('keyring.destroy')}
              name={`${zone} ${r.version}`}
              effect={t('keyring.rootDestroyEffect')}
              {...(r.tenant_keys > 0 ? { why: t('keyring.rootInUse') } : {})}
              onConfirm={async (reason) => {
                await change('POST', `${path}/versions/${r.version}/destroy`, { reason });
                await asked();
              }}
            />
          ) : null
        }
        empty={<Empty title={t('keyring.none')} body={t('keyring.rootsBody')} />}
      />
      <h2 className="block">{t('keyring.attestation')}</h2>
      <Attestation path={path} />
      <h2 className="block">{t('keyring.rootMoves')}</h2>
      <Moves path={`${path}/rewraps`} />
    </Page>
  );
}
