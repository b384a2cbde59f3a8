// SPDX-License-Identifier: Apache-2.0
// SignOn.tsx - the providers at which people may sign in: set up, tried, linked, switched off.
import { Button, ClipboardCopy, Modal, ModalBody, ModalHeader } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, get, type Schemas } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import { useForget } from '../../api/hooks.ts';
import { useSession } from '../../shell/session.tsx';
import { startAddress } from '../../shell/login/Providers.tsx';
import { Code, Name, Pairs, State } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { SLUG, type Field, type Values } from '../../ui/form.tsx';
import { Note } from '../../ui/note.tsx';
import { Empty, useProblemText } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { userByName } from '../members/parts.tsx';
import '../members/members.css';

type Provider = Schemas['identity_provider'];
interface GroupRole {
  group: string;
  role: string;
}
const rolesOf = (p: Provider): GroupRole[] => (Array.isArray(p.group_roles) ? (p.group_roles as GroupRole[]) : []);
const LINES = /^\s*([^=\n]+=\s*[a-z][a-z-]*\s*(\n\s*|$))*$/;
export const groupLines = (text: unknown): GroupRole[] =>
  String(text ?? '')
    .split('\n')
    .map((l) => l.split('='))
    .filter((l) => l.length === 2)
    .map(([group, role]) => ({ group: group!.trim(), role: role!.trim() }));

function useFields(known?: Provider): Field[] {
  const { t } = useTranslation();
  const first: Field[] = known
    ? []
    : [
        { name: 'name', label: t('settings.idpName'), required: true, pattern: SLUG, help: t('settings.idpNameHelp') },
        {
          name: 'issuer',
          label: t('settings.idpIssuer'),
          required: true,
          pattern: /^https?:\/\/\S+$/,
          help: t('settings.idpIssuerHelp'),
        },
      ];
  return [
    ...first,
    {
      name: 'client_id',
      label: t('settings.idpClient'),
      required: true,
      ltr: true,
      max: 255,
      help: t('settings.idpClientHelp'),
    },
    {
      name: 'client_secret',
      label: t('settings.idpSecret'),
      kind: 'password',
      autoComplete: 'new-password',
      help: known ? t('settings.idpSecretKeep') : t('settings.idpSecretHelp'),
    },
    {
      name: 'group_roles',
      label: t('settings.idpGroups'),
      kind: 'area',
      pattern: LINES,
      help: t('settings.idpGroupsHelp'),
    },
    { name: 'create_users', label: t('settings.idpCreate'), kind: 'check' },
  ];
}
const formOf = (p: Provider): Values => ({
  client_id: p.client_id ?? '',
  client_secret: '',
  group_roles: rolesOf(p)
    .map((g) => `${g.group} = ${g.role}`)
    .join('\n'),
  create_users: p.create_users,
});
const bodyOf = (v: Values) => ({
  client_id: String(v['client_id'] ?? ''),
  ...(v['client_secret'] ? { client_secret: String(v['client_secret']) } : {}),
  group_roles: groupLines(v['group_roles']),
  create_users: v['create_users'] === true,
});

function Try({ provider }: { provider: Provider }) {
  const { t } = useTranslation();
  const text = useProblemText();
  const { me } = useSession();
  const [out, setOut] = useState<Schemas['provider_test'] | null>(null);
  const [busy, setBusy] = useState(false);
  const start = location.origin + startAddress(me.tenant ?? '', provider.name ?? '', '/');
  const go = (): void => {
    setBusy(true);
    change('POST', `/v1/identity-providers/${provider.provider_id!}/test`)
      .then(setOut, (p: unknown) => toast(text(p), 'danger'))
      .finally(() => setBusy(false));
  };
  return (
    <>
      <Button variant="link" isInline isDisabled={busy} onClick={go}>
        {t('settings.idpTest')}
      </Button>
      {out && (
        <Modal isOpen variant="medium" onClose={() => setOut(null)} aria-labelledby="test-title">
          <ModalHeader
            title={t('settings.idpTestOf', { name: `\u2068${provider.name ?? ''}\u2069` })}
            labelId="test-title"
          />
          <ModalBody>
            <Note
              variant={out.ok ? 'success' : 'danger'}
              title={t(out.ok ? 'settings.idpTestOk' : 'settings.idpTestBad')}
            >
              <bdi lang="en" dir="ltr" translate="no">
                {out.problem ?? ''}
              </bdi>
            </Note>
            <Pairs
              rows={[
                [t('settings.idpIssuer'), <Code key="i">{out.issuer}</Code>],
                [
                  t('settings.idpAuth'),
                  out.authorization_endpoint ? <Code key="a">{out.authorization_endpoint}</Code> : null,
                ],
                [t('settings.idpToken'), out.token_endpoint ? <Code key="t">{out.token_endpoint}</Code> : null],
                [t('settings.idpKeys'), String(out.keys)],
              ]}
            />
            {[
              [t('settings.idpRedirect'), out.redirect_uri],
              [t('settings.idpStart'), start],
            ].map(([label, value]) => (
              <div key={label} className="block">
                <p>{label}</p>
                <ClipboardCopy
                  isReadOnly
                  hoverTip={t('act.copy')}
                  clickTip={t('act.copied')}
                  textAriaLabel={label!}
                  dir="ltr"
                >
                  {value ?? ''}
                </ClipboardCopy>
              </div>
            ))}
          </ModalBody>
        </Modal>
      )}
    </>
  );
}

const switchTo = (p: Provider, state: 'ACTIVE' | 'DISABLED'): Promise<unknown> =>
  change('PATCH', `/v1/identity-providers/${p.provider_id!}`, { state }, { 'if-match': `"v${p.version}"` });

function RowActs({ provider: p }: { provider: Provider }) {
  const { t } = useTranslation();
  const forget = useForget();
  const fields = useFields(p);
  const path = `/v1/identity-providers/${p.provider_id!}` as const;
  const done = (): Promise<void> => forget('/v1/identity-providers');
  const put = async (state: 'ACTIVE' | 'DISABLED'): Promise<void> => {
    await switchTo(p, state);
    await done();
  };
  return (
    <span className="acts many">
      <Try provider={p} />
      <FormButton
        variant="link"
        label={t('settings.idpEdit')}
        title={p.name ?? ''}
        size="medium"
        fields={fields}
        initial={formOf(p)}
        lock={{ read: () => get(path), was: { ...p }, view: (o) => formOf(o as unknown as Provider) }}
        onSubmit={async (v, tag) => {
          await change('PATCH', path, { ...bodyOf(v), keep_group_roles: false }, { 'if-match': tag });
          await done();
        }}
      />
      <FormButton
        variant="link"
        label={t('settings.idpLink')}
        title={t('settings.idpLink')}
        lead={<p className="effect">{t('settings.idpLinkBody')}</p>}
        fields={[
          {
            name: 'subject',
            label: t('settings.idpSubject'),
            required: true,
            max: 255,
            help: t('settings.idpSubjectHelp'),
          },
          { name: 'user_id', label: t('members.userId'), required: true },
        ]}
        onSubmit={async (v) => {
          const user = await userByName(String(v['user_id']));
          if (!user) throw new Problem(404, { code: 'not_found', title: t('members.noSuch') });
          await change('POST', `${path}/links`, { subject: v['subject'], user_id: user.user_id });
        }}
      />
      {p.state === 'ACTIVE' ? (
        <TypedConfirm
          variant="link"
          label={t('settings.off')}
          title={t('settings.off')}
          name={p.name ?? ''}
          effect={t('settings.offEffect')}
          onConfirm={() => put('DISABLED')}
        />
      ) : (
        <FormButton
          variant="link"
          label={t('settings.on')}
          title={t('settings.idpState')}
          fields={[]}
          onSubmit={() => put('ACTIVE')}
        />
      )}
      <TypedConfirm
        variant="link"
        label={t('settings.idpRemove')}
        title={t('settings.idpRemove')}
        name={p.name ?? ''}
        effect={t('settings.idpRemoveEffect')}
        onConfirm={async () => {
          await change('DELETE', path);
          await done();
        }}
      />
    </span>
  );
}

export function AddProvider() {
  const { t } = useTranslation();
  const forget = useForget();
  const fields = useFields();
  return (
    <FormButton
      opens="provider"
      label={t('settings.idpAdd')}
      title={t('settings.idpAdd')}
      size="medium"
      fields={fields}
      onSubmit={async (v) => {
        const first = { name: String(v['name'] ?? ''), issuer: String(v['issuer'] ?? '') };
        await change('POST', '/v1/identity-providers', { ...first, ...bodyOf(v) });
        await forget('/v1/identity-providers');
      }}
    />
  );
}

export function SignOn() {
  const { t } = useTranslation();
  return (
    <ServerTable
      path="/v1/identity-providers"
      label={t('settings.signOn')}
      rowKey={(p) => p.provider_id!}
      columns={[
        { name: 'name', label: t('settings.idpName'), cell: (p) => <Name>{p.name}</Name> },
        { name: 'issuer', label: t('settings.idpIssuer'), cell: (p) => <Code>{p.issuer}</Code> },
        { name: 'state', label: t('col.state'), cell: (p) => <State value={p.state} /> },
        {
          name: 'group_roles',
          label: t('settings.idpGroups'),
          cell: (p) => t('settings.groupCount', { count: rolesOf(p).length }),
        },
        {
          name: 'create_users',
          label: t('settings.creates'),
          cell: (p) => (p.create_users ? t('settings.yes') : t('settings.no')),
        },
      ]}
      rowName={(p) => p.name ?? ''}
      bulk={[
        {
          label: t('settings.off'),
          confirm: t('bulk.providersOff'),
          fits: (p) => p.state === 'ACTIVE',
          run: (p) => switchTo(p, 'DISABLED'),
        },
        { label: t('settings.on'), fits: (p) => p.state !== 'ACTIVE', run: (p) => switchTo(p, 'ACTIVE') },
      ]}
      rowActions={(p) => <RowActs provider={p} />}
      empty={
        <Empty
          title={t('settings.idpNone')}
          body={t('settings.idpNoneBody')}
          action={<AddProvider />}
          cli="falaj idp create NAME ISSUER CLIENT_ID"
        />
      }
    />
  );
}
