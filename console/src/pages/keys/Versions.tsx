// SPDX-License-Identifier: Apache-2.0
// Versions.tsx - a key's versions with what may be done to each: disabled, let in again, destroyed after a waiting time, called off.
import { Button } from '@patternfly/react-core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { State, Time, To } from '../../ui/bits.tsx';
import { TypedConfirm } from '../../ui/dialogs.tsx';
import { Empty, useProblemText } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { Impact } from './Impact.tsx';
import { Word } from './pieces.tsx';

type Version = Schemas['key_version'];

export function VersionActs({ v, path }: { v: Version; path: `/v1/keys/${string}` }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const text = useProblemText();
  const forget = useForget();
  const at = `${path}/versions/${v.key_version}` as const;
  const act = async (what: 'disable' | 'enable' | 'cancel', said: string): Promise<void> => {
    await change('POST', `${at}/${what}`);
    toast(said);
    await forget('/v1/keys');
  };
  const soft = (what: 'enable' | 'cancel', said: string): void =>
    void act(what, said).catch((p: unknown) => toast(text(p), 'danger'));
  const name = `${v.zone} ${v.key_version}`;
  return (
    <div className="acts">
      {can('key:rotate') && (v.state === 'DECRYPT_ONLY' || v.state === 'PRIMARY') && (
        <TypedConfirm
          variant="link"
          label={t('keyring.disable')}
          title={t('keyring.disable')}
          name={name}
          effect={
            <>
              <p>{t('keyring.disableEffect')}</p>
              <Impact zone={v.zone ?? ''} version={v.key_version} dataKeys={v.data_keys} />
            </>
          }
          onConfirm={() => act('disable', t('keyring.disabled'))}
        />
      )}
      {can('key:rotate') && v.state === 'DISABLED' && (
        <Button variant="link" isInline onClick={() => soft('enable', t('keyring.enabled'))}>
          {t('keyring.enable')}
        </Button>
      )}
      {can('key:destroy') && (v.state === 'DECRYPT_ONLY' || v.state === 'DISABLED') && (
        <TypedConfirm
          variant="link"
          reason
          label={t('keyring.destroy')}
          title={t('keyring.destroy')}
          name={name}
          effect={
            <>
              <p>{t('keyring.destroyEffect')}</p>
              <Impact zone={v.zone ?? ''} version={v.key_version} dataKeys={v.data_keys} />
              <Link to="/approvals">{t('nav.approvals')}</Link>
            </>
          }
          onConfirm={async (reason) => {
            await change('POST', `${at}/destroy`, { reason });
            toast(t('keyring.asked'));
            await forget('/v1/approvals');
          }}
        />
      )}
      {can('key:cancel') && v.state === 'DESTROY_SCHEDULED' && (
        <Button variant="link" isInline onClick={() => soft('cancel', t('keyring.cancelled'))}>
          {t('keyring.cancel')}
        </Button>
      )}
    </div>
  );
}

export function Versions({ path }: { path: `/v1/keys/${string}` }) {
  const { t } = useTranslation();
  return (
    <ServerTable
      path={`${path}/versions`}
      label={t('datasets.versions')}
      rowKey={(v) => String(v.key_version)}
      columns={[
        {
          name: 'key_version',
          label: t('col.version'),
          cell: (v) => (
            <To to={`/keys/${v.zone ?? ''}/versions/${v.key_version}`}>
              {t('keyring.versionOf', { version: number(v.key_version) })}
            </To>
          ),
        },
        { name: 'state', label: t('col.state'), cell: (v) => <State value={v.state} /> },
        { name: 'origin', label: t('keyring.origin'), cell: (v) => <Word of="origin" value={v.origin} /> },
        { name: 'tier', label: t('keyring.tier'), cell: (v) => <Word of="tier" value={v.tier} /> },
        {
          name: 'root_version',
          label: t('keyring.root'),
          cell: (v) => (v.root_version > 0 ? number(v.root_version) : null),
        },
        { name: 'data_keys', label: t('keyring.dataKeys'), cell: (v) => number(v.data_keys) },
        { name: 'created_at', label: t('col.created'), cell: (v) => <Time at={v.created_at} ago /> },
        {
          name: 'destroy_after',
          label: t('keyring.end'),
          cell: (v) => <Time at={v.destroyed_at ?? v.destroy_after ?? v.disabled_at ?? v.retired_at} ago />,
        },
      ]}
      rowActions={(v) => <VersionActs v={v} path={path} />}
      empty={<Empty title={t('keyring.none')} body={t('keyring.noneBody')} />}
    />
  );
}
