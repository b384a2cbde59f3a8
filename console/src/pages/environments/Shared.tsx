// SPDX-License-Identifier: Apache-2.0
// Shared.tsx - images that the platform's staff publish to every organisation of a zone: the list, and one of them.
import { useNavigate, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { bytes, number } from '../../lib/format.ts';
import { titleOf } from '../../lib/titles.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Id, Name, Pairs, State, Time, To } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { SLUG, formFields } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer, Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { Packages } from './Environment.tsx';
import { SignButton } from './Environments.tsx';
import { Registries } from './Registries.tsx';

type Shared = Schemas['shared_environment'];

function Publish() {
  const { t } = useTranslation();
  const forget = useForget();
  const tenants = useGet('/v1/tenants', { page_size: 200 });
  const fields = formFields(
    {
      name: 'tenant_id',
      label: t('environments.owner'),
      kind: 'select',
      required: true,
      options: [
        { value: '', label: t('environments.pickOwner') },
        ...(tenants.data?.data ?? []).map((x) => ({ value: x.tenant_id!, label: titleOf(x) })),
      ],
    },
    {
      name: 'environment_id',
      label: t('environments.offeredId'),
      required: true,
      pattern: /^env_[0-9a-f]{32}$/,
      ltr: true,
      help: t('environments.offeredIdHelp'),
    },
    { name: 'name', label: t('environments.sharedName'), pattern: SLUG, ltr: true, help: t('environments.asOwner') },
    { name: 'description', label: t('col.description'), max: 256 },
    { name: 'zone', label: t('col.zone'), ltr: true, help: t('environments.zoneHelp') },
  );
  return (
    <FormButton
      label={t('environments.publish')}
      title={t('environments.publish')}
      lead={<p>{t('environments.publishLead')}</p>}
      ready={!tenants.isLoading}
      fields={fields}
      onSubmit={async ({ tenant_id, environment_id, name, description, zone }) => {
        await change('POST', `/v1/tenants/${tenant_id}/shared-environments`, {
          environment_id,
          ...(name ? { name } : {}),
          ...(description ? { description } : {}),
          ...(zone ? { zone } : {}),
        });
        await forget('/v1/shared-environments');
      }}
    />
  );
}

function SharedActs({ shared: v, gone }: { shared: Shared; gone?: () => void }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const path = `/v1/shared-environments/${v.shared_id}` as const;
  const fields = formFields({
    name: 'reason',
    label: t('environments.reason'),
    kind: 'area',
    required: true,
    max: 512,
    help: t('environments.withdrawHelp'),
  });
  return (
    <span className="acts">
      {can('environment:manage') && (
        <SignButton name={v.name} path={`${path}/signature`} list="/v1/shared-environments" />
      )}
      {can('environment:publish') && v.state === 'PUBLISHED' && (
        <FormButton
          variant="link"
          label={t('environments.withdraw')}
          title={t('environments.withdrawOf', { name: v.name })}
          fields={fields}
          lead={<p>{t('environments.withdrawLead')}</p>}
          onSubmit={async ({ reason }) => {
            await change('POST', `${path}/withdraw`, { reason });
            await forget('/v1/shared-environments');
          }}
        />
      )}
      {can('environment:publish') && v.state === 'WITHDRAWN' && (
        <TypedConfirm
          variant="link"
          label={t('environments.remove')}
          title={t('environments.remove')}
          name={v.name}
          effect={t('environments.unpublishEffect')}
          onConfirm={async () => {
            await change('DELETE', path);
            gone?.();
            await forget('/v1/shared-environments');
          }}
        />
      )}
    </span>
  );
}

export function SharedEnvironmentDetail() {
  const { t } = useTranslation();
  const { can } = useSession();
  const navigate = useNavigate();
  const { id } = useParams({ strict: false }) as { id: string };
  const path = `/v1/shared-environments/${encodeURIComponent(id)}` as const;
  const query = useGet(path);
  const name = query.data?.name ?? id;
  const acts = can('environment:manage') || can('environment:publish');
  return (
    <Page
      name={name}
      title={<Code>{name}</Code>}
      crumbs={[[t('nav.sharedEnvironments'), '/shared-environments']]}
      actions={
        query.data &&
        acts && <SharedActs shared={query.data} gone={() => void navigate({ to: '/shared-environments' })} />
      }
      api={[`GET ${path}`, `GET ${path}/packages`]}
      cli={[`falaj environment shared-get ${id}`, `falaj environment shared-packages ${id}`]}
    >
      <Answer of={query}>
        {(v) => (
          <>
            <Pairs
              rows={[
                [t('col.state'), <State key="state" value={v.state} />],
                [t('environments.reason'), v.withdrawn_reason && <Name key="reason">{v.withdrawn_reason}</Name>],
                [t('col.description'), v.description && <Name key="description">{v.description}</Name>],
                [t('environments.namedSo'), <Id key="named" value={v.environment} />],
                [
                  t('environments.signedBy'),
                  v.signed_by ? <Code key="by">{v.signed_by}</Code> : t('environments.unsigned'),
                ],
                [t('environments.size'), bytes(v.unpacked_bytes)],
                [t('environments.files'), number(v.files)],
                [t('col.zone'), <Code key="zone">{v.zone}</Code>],
                [t('environments.publishedAt'), <Time key="since" at={v.published_at} />],
                [t('environments.jobsNow'), v.jobs === undefined ? undefined : number(v.jobs)],
                [t('environments.offeredId'), <Id key="of" value={v.environment_id} />],
              ]}
            />
            <Packages path={`${path}/packages`} />
          </>
        )}
      </Answer>
    </Page>
  );
}

export function SharedEnvironments() {
  const { t } = useTranslation();
  const { can } = useSession();
  const staff = can('environment:publish');
  return (
    <Page
      name={t('nav.sharedEnvironments')}
      title={t('nav.sharedEnvironments')}
      lead={t('environments.sharedLead')}
      actions={staff && <Publish />}
      api={['GET /v1/shared-environments', 'GET /v1/registries']}
      cli={[
        'falaj environment shared',
        'falaj registry list',
        ...(staff ? ['falaj environment publish TENANT ENVIRONMENT'] : []),
      ]}
    >
      <ServerTable
        path="/v1/shared-environments"
        label={t('nav.sharedEnvironments')}
        rowKey={(v) => v.shared_id}
        rowName={(v) => v.name}
        columns={[
          {
            name: 'name',
            label: t('environments.name'),
            cell: (v) => (
              <To to={`/shared-environments/${v.shared_id}`}>
                <Code>{v.name}</Code>
              </To>
            ),
          },
          { name: 'state', label: t('col.state'), cell: (v) => <State value={v.state} /> },
          { name: 'zone', label: t('col.zone'), cell: (v) => <Code>{v.zone}</Code> },
          { name: 'unpacked_bytes', label: t('environments.size'), narrow: true, cell: (v) => bytes(v.unpacked_bytes) },
          {
            name: 'package_count',
            label: t('environments.packages'),
            narrow: true,
            cell: (v) => number(v.package_count),
          },
          { name: 'published_at', label: t('environments.publishedAt'), cell: (v) => <Time at={v.published_at} /> },
          {
            name: 'environment',
            label: t('environments.namedSo'),
            cell: (v) => <Code>{v.environment}</Code>,
            extra: true,
          },
          { name: 'description', label: t('col.description'), cell: (v) => <Name>{v.description}</Name>, extra: true },
        ]}
        {...(staff || can('environment:manage') ? { rowActions: (v: Shared) => <SharedActs shared={v} /> } : {})}
        empty={
          <Empty
            title={t('environments.sharedNone')}
            body={t(staff ? 'environments.sharedNoneStaff' : 'environments.sharedNoneBody')}
            cli="falaj environment shared"
          />
        }
      />
      <Registries />
    </Page>
  );
}
