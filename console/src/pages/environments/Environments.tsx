// SPDX-License-Identifier: Apache-2.0
// Environments.tsx - images that programs run in: by name, what is in them, who signed them; and taking one in.
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { bytes, number } from '../../lib/format.ts';
import { titleOf } from '../../lib/titles.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, State, Time, To } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { SLUG, formFields } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { Pull } from './Registries.tsx';

export type Environment = Schemas['environment'];

function Import() {
  const { t } = useTranslation();
  const forget = useForget();
  const { can } = useSession();
  const sets = useGet('/v1/datasets', { page_size: 200 }, { enabled: can('dataset:read') });
  const fields = formFields(
    {
      name: 'name',
      label: t('environments.name'),
      required: true,
      pattern: SLUG,
      ltr: true,
      help: t('environments.nameHelp'),
    },
    {
      name: 'dataset_id',
      label: t('environments.archive'),
      kind: 'select',
      required: true,
      options: [
        { value: '', label: t('environments.pick') },
        ...(sets.data?.data ?? [])
          .filter((d) => d.latest_version > 0)
          .map((d) => ({ value: d.dataset_id!, label: titleOf(d) })),
      ],
      help: t('environments.archiveHelp'),
    },
    { name: 'description', label: t('col.description'), max: 256 },
    { name: 'allow_setuid', label: t('environments.setuid'), kind: 'check', help: t('environments.setuidHelp') },
  );
  return (
    <FormButton
      label={t('environments.import')}
      title={t('environments.import')}
      lead={<p>{t('environments.importLead')}</p>}
      ready={!sets.isLoading}
      fields={fields}
      onSubmit={async ({ name, dataset_id, description, allow_setuid }) => {
        await change('POST', '/v1/environments', {
          name,
          dataset_id,
          allow_setuid,
          ...(description ? { description } : {}),
        });
        await Promise.all([forget('/v1/environments'), forget('/v1/jobs')]);
      }}
    />
  );
}

/** 64 bytes in hexadecimal, with the white space of a file that was copied. */
const SIGNATURE = /^\s*(?:[0-9a-fA-F]\s*){128}$/;

interface Signed {
  name: string;
  path: `/v1/environments/${string}/signature` | `/v1/shared-environments/${string}/signature`;
  list: '/v1/environments' | '/v1/shared-environments';
}
export function SignButton({ name, path, list }: Signed) {
  const { t } = useTranslation();
  const forget = useForget();
  const fields = formFields({
    name: 'signature',
    label: t('environments.signature'),
    kind: 'area',
    required: true,
    ltr: true,
    pattern: SIGNATURE,
    help: t('environments.signatureHelp'),
  });
  return (
    <FormButton
      variant="link"
      label={t('environments.sign')}
      title={t('environments.signOf', { name })}
      submit={t('act.save')}
      fields={fields}
      onSubmit={async ({ signature }) => {
        await change('PUT', path, { signature: signature.replace(/\s/g, '') });
        await forget(list);
      }}
    />
  );
}

function OfferButton({ environment: v }: { environment: Environment }) {
  const { t } = useTranslation();
  const forget = useForget();
  const offered = !v.offered_at;
  return (
    <FormButton
      variant="link"
      label={t(offered ? 'environments.offer' : 'environments.unoffer')}
      title={t(offered ? 'environments.offerOf' : 'environments.unofferOf', { name: v.name })}
      lead={<p>{t(offered ? 'environments.offerLead' : 'environments.unofferLead')}</p>}
      fields={[]}
      onSubmit={async () => {
        await change('PUT', `/v1/environments/${v.environment_id}/offer`, { offered });
        await forget('/v1/environments');
      }}
    />
  );
}

export function EnvironmentActs({ environment: v, gone }: { environment: Environment; gone?: () => void }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const path = `/v1/environments/${v.environment_id}` as const;
  return (
    <span className="acts">
      {v.digest !== '' && <SignButton name={v.name} path={`${path}/signature`} list="/v1/environments" />}
      {v.state === 'READY' && can('environment:trust') && <OfferButton environment={v} />}
      <TypedConfirm
        variant="link"
        label={t('environments.remove')}
        title={t('environments.remove')}
        name={v.name}
        effect={t(v.owns_archive ? 'environments.removeOwn' : 'environments.removeEffect')}
        onConfirm={async () => {
          await change('DELETE', path);
          gone?.();
          await Promise.all([forget('/v1/environments'), forget('/v1/datasets')]);
        }}
      />
    </span>
  );
}

export function Environments() {
  const { t } = useTranslation();
  const { can } = useSession();
  const keeper = can('environment:manage');
  return (
    <Page
      name={t('nav.environments')}
      title={t('nav.environments')}
      lead={t('environments.lead')}
      actions={
        keeper && (
          <>
            <Import />
            <Pull />
          </>
        )
      }
      api={['GET /v1/environments']}
      cli={[
        'falaj environment list',
        ...(keeper
          ? ['falaj environment import NAME FILE', 'falaj environment import NAME docker://HOST/NAME@sha256:…']
          : []),
      ]}
    >
      <ServerTable
        path="/v1/environments"
        label={t('nav.environments')}
        rowKey={(v) => v.environment_id}
        rowName={(v) => v.name}
        columns={[
          {
            name: 'name',
            label: t('environments.name'),
            cell: (v) => (
              <To to={`/environments/${v.environment_id}`}>
                <Code>{v.name}</Code>
              </To>
            ),
          },
          { name: 'state', label: t('col.state'), cell: (v) => <State value={v.state} /> },
          {
            name: 'unpacked_bytes',
            label: t('environments.size'),
            narrow: true,
            cell: (v) => (v.unpacked_bytes ? bytes(v.unpacked_bytes) : ''),
          },
          {
            name: 'package_count',
            label: t('environments.packages'),
            narrow: true,
            cell: (v) => (v.state === 'READY' ? number(v.package_count) : ''),
          },
          {
            name: 'signed_by',
            label: t('environments.signedBy'),
            cell: (v) => (v.signed_by ? <Code>{v.signed_by}</Code> : t('environments.unsigned')),
          },
          { name: 'created_at', label: t('environments.imported'), cell: (v) => <Time at={v.created_at} /> },
          { name: 'digest', label: t('environments.digest'), cell: (v) => <Code>{v.digest}</Code>, extra: true },
          { name: 'description', label: t('col.description'), cell: (v) => <Name>{v.description}</Name>, extra: true },
        ]}
        {...(keeper ? { rowActions: (v: Environment) => <EnvironmentActs environment={v} /> } : {})}
        empty={
          <Empty
            title={t('environments.none')}
            body={t('environments.noneBody')}
            cli="falaj environment import debian debian.tar"
          />
        }
      />
    </Page>
  );
}
