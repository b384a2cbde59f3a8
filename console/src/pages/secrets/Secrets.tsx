// SPDX-License-Identifier: Apache-2.0
// Secrets.tsx - values that programs get and nobody reads back: names, where each lies, whether jobs get it, when one last did.
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { change, get, ifMatch, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { titleOf } from '../../lib/titles.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, State, Time, To } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { SLUG, formFields } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';

type Secret = Schemas['secret'];
const bytes = (value: string): Blob => new Blob([value], { type: 'application/octet-stream' });

const valueField = (t: TFunction) =>
  ({
    name: 'value',
    label: t('secrets.value'),
    kind: 'area',
    required: true,
    ltr: true,
    autoComplete: 'off',
    help: t('secrets.valueHelp'),
  }) as const;

function NewSecret() {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const projects = useGet('/v1/projects', { page_size: 200 }, { enabled: can('project:read') });
  const fields = formFields(
    { name: 'name', label: t('secrets.name'), required: true, pattern: SLUG, ltr: true, help: t('secrets.nameHelp') },
    {
      name: 'project_id',
      label: t('secrets.project'),
      kind: 'select',
      options: [
        { value: '', label: t('secrets.noProject') },
        ...(projects.data?.data ?? []).map((p) => ({ value: p.project_id!, label: titleOf(p) })),
      ],
    },
    { name: 'description', label: t('col.description'), max: 256, help: t('secrets.descriptionHelp') },
    valueField(t),
  );
  return (
    <FormButton
      opens="secret"
      label={t('secrets.add')}
      title={t('secrets.add')}
      ready={!projects.isLoading}
      fields={fields}
      onSubmit={async ({ name, project_id, description, value }) => {
        const made = await change('POST', '/v1/secrets', {
          name,
          ...(project_id ? { project_id } : {}),
          ...(description ? { description } : {}),
        });
        try {
          await change('PUT', `/v1/secrets/${made.secret_id}/value`, bytes(value));
        } catch (refused) {
          // A name without a value would be in the way of the next try.
          await change('DELETE', `/v1/secrets/${made.secret_id}`, undefined, ifMatch(made.version)).catch(
            () => undefined,
          );
          throw refused;
        } finally {
          await forget('/v1/secrets');
        }
      }}
    />
  );
}

export function SecretActs({ secret: s, gone }: { secret: Secret; gone?: () => void }) {
  const { t } = useTranslation();
  const forget = useForget();
  const path = `/v1/secrets/${s.secret_id}` as const;
  const to = s.state === 'ACTIVE' ? 'DISABLED' : 'ACTIVE';
  const fields = formFields(valueField(t));
  return (
    <span className="acts">
      <FormButton
        variant="link"
        label={t('secrets.set')}
        title={t('secrets.setOf', { name: s.name })}
        submit={t('act.save')}
        fields={fields}
        onSubmit={async ({ value }) => {
          await change('PUT', `${path}/value`, bytes(value));
          await forget('/v1/secrets');
        }}
      />
      <FormButton
        variant="link"
        label={t(to === 'DISABLED' ? 'secrets.disable' : 'secrets.enable')}
        title={t(to === 'DISABLED' ? 'secrets.disableOf' : 'secrets.enableOf', { name: s.name })}
        lead={<p>{t(to === 'DISABLED' ? 'secrets.disableBody' : 'secrets.enableBody')}</p>}
        fields={[]}
        lock={{ read: () => get(path), was: { ...s } }}
        onSubmit={async (_v, tag) => {
          await change('PATCH', path, { state: to }, { 'if-match': tag });
          await forget('/v1/secrets');
        }}
      />
      <TypedConfirm
        variant="link"
        label={t('secrets.remove')}
        title={t('secrets.remove')}
        name={s.name}
        effect={t('secrets.removeEffect')}
        onConfirm={async () => {
          await change('DELETE', path, undefined, ifMatch(s.version));
          gone?.();
          await forget('/v1/secrets');
        }}
      />
    </span>
  );
}

export function Secrets() {
  const { t } = useTranslation();
  const { can } = useSession();
  const setter = can('secret:manage');
  const projects = useGet('/v1/projects', { page_size: 200 }, { enabled: can('project:read') });
  const projectOf = (id: string): string => titleOf(projects.data?.data.find((p) => p.project_id === id)) || id;
  return (
    <Page
      name={t('nav.secrets')}
      title={t('nav.secrets')}
      lead={t('secrets.lead')}
      actions={setter && <NewSecret />}
      api={['GET /v1/secrets']}
      cli={['falaj secret list', ...(setter ? ['falaj secret set NAME --from-file FILE'] : [])]}
    >
      <ServerTable
        path="/v1/secrets"
        label={t('nav.secrets')}
        rowKey={(s) => s.secret_id}
        rowName={(s) => s.name}
        columns={[
          {
            name: 'name',
            label: t('secrets.name'),
            cell: (s) => (
              <To to={`/secrets/${s.secret_id}`}>
                <Code>{s.name}</Code>
              </To>
            ),
          },
          {
            name: 'project_id',
            label: t('secrets.project'),
            cell: (s) => (s.project_id ? <Name>{projectOf(s.project_id)}</Name> : t('secrets.noProject')),
          },
          { name: 'state', label: t('col.state'), cell: (s) => <State value={s.state} /> },
          {
            name: 'latest_version',
            label: t('col.version'),
            narrow: true,
            cell: (s) => (s.latest_version ? number(s.latest_version) : t('secrets.noValue')),
          },
          {
            name: 'last_used_at',
            label: t('secrets.lastUsed'),
            cell: (s) => (s.last_used_at ? <Time at={s.last_used_at} /> : t('secrets.never')),
          },
          { name: 'zone', label: t('col.zone'), cell: (s) => <Code>{s.zone}</Code>, extra: true },
          { name: 'description', label: t('col.description'), cell: (s) => <Name>{s.description}</Name>, extra: true },
        ]}
        {...(setter ? { rowActions: (s: Secret) => <SecretActs secret={s} /> } : {})}
        empty={
          <Empty
            title={t('secrets.none')}
            body={t('secrets.noneBody')}
            cli="falaj secret set hub-token --from-file token"
          />
        }
      />
    </Page>
  );
}
