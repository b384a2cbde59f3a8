// SPDX-License-Identifier: Apache-2.0
// Registries.tsx - images that come from a registry: the form that pulls one, and the registries that a zone allows.
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { SLUG, formFields } from '../../ui/form.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';

type Registry = Schemas['registry_host'];

/** HOST[:PORT]/NAME@sha256:…, with docker:// before it or without; what exactly is wrong the API says. */
const REFERENCE = /^(docker:\/\/)?[a-z0-9.-]+(:[0-9]+)?\/\S+@sha256:[0-9a-f]{64}$/;
const HOST = /^[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?$/;

export function Pull() {
  const { t } = useTranslation();
  const forget = useForget();
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
      name: 'registry',
      label: t('environments.reference'),
      required: true,
      pattern: REFERENCE,
      ltr: true,
      help: t('environments.referenceHelp'),
    },
    {
      name: 'credentials',
      label: t('environments.credentials'),
      pattern: SLUG,
      ltr: true,
      help: t('environments.credentialsHelp'),
    },
    { name: 'zone', label: t('col.zone'), ltr: true, help: t('environments.pullZoneHelp') },
    { name: 'description', label: t('col.description'), max: 256 },
    { name: 'allow_setuid', label: t('environments.setuid'), kind: 'check', help: t('environments.setuidHelp') },
  );
  return (
    <FormButton
      variant="secondary"
      label={t('environments.pull')}
      title={t('environments.pull')}
      lead={<p>{t('environments.pullLead')}</p>}
      fields={fields}
      onSubmit={async ({ name, registry, credentials, zone, description, allow_setuid }) => {
        await change('POST', '/v1/environments', {
          name,
          allow_setuid,
          from: { registry, ...(credentials ? { credentials } : {}), ...(zone ? { zone } : {}) },
          ...(description ? { description } : {}),
        });
        await Promise.all([forget('/v1/environments'), forget('/v1/jobs')]);
      }}
    />
  );
}

function Allow() {
  const { t } = useTranslation();
  const forget = useForget();
  const fields = formFields(
    { name: 'zone', label: t('col.zone'), required: true, ltr: true },
    {
      name: 'host',
      label: t('environments.host'),
      required: true,
      pattern: HOST,
      ltr: true,
      help: t('environments.hostHelp'),
    },
    { name: 'hosts', label: t('environments.otherHosts'), ltr: true, help: t('environments.otherHostsHelp') },
    {
      name: 'reach',
      label: t('environments.reach'),
      kind: 'select',
      options: [
        { value: 'public', label: t('environments.reachPublic') },
        { value: 'private', label: t('environments.reachPrivate') },
        { value: 'local', label: t('environments.reachLocal') },
      ],
      help: t('environments.reachHelp'),
    },
    {
      name: 'ca_pem',
      label: t('environments.authorities'),
      kind: 'area',
      max: 16384,
      ltr: true,
      help: t('environments.authoritiesHelp'),
    },
    { name: 'description', label: t('col.description'), max: 256 },
  );
  return (
    <FormButton
      variant="secondary"
      label={t('environments.allowRegistry')}
      title={t('environments.allowRegistry')}
      lead={<p>{t('environments.allowRegistryLead')}</p>}
      fields={fields}
      onSubmit={async ({ zone, host, hosts, reach, ca_pem, description }) => {
        await change('POST', '/v1/registries', {
          zone,
          host,
          reach,
          ...(hosts ? { hosts: hosts.split(',').map((h) => h.trim()) } : {}),
          ...(ca_pem ? { ca_pem } : {}),
          ...(description ? { description } : {}),
        });
        await forget('/v1/registries');
      }}
    />
  );
}

function RegistryActs({ registry: r }: { registry: Registry }) {
  const { t } = useTranslation();
  const forget = useForget();
  const path = `/v1/registries/${r.registry_id}` as const;
  const shuts = r.allowed;
  return (
    <span className="acts">
      <FormButton
        variant="link"
        label={t(shuts ? 'environments.shutRegistry' : 'environments.openRegistry')}
        title={t(shuts ? 'environments.shutRegistryOf' : 'environments.openRegistryOf', { name: r.host })}
        lead={<p>{t(shuts ? 'environments.shutRegistryLead' : 'environments.openRegistryLead')}</p>}
        fields={[]}
        onSubmit={async () => {
          await change('PUT', `${path}/allowed`, { allowed: !shuts });
          await forget('/v1/registries');
        }}
      />
      <TypedConfirm
        variant="link"
        label={t('environments.remove')}
        title={t('environments.remove')}
        name={r.host}
        effect={t('environments.registryRemove')}
        onConfirm={async () => {
          await change('DELETE', path);
          await forget('/v1/registries');
        }}
      />
    </span>
  );
}

export function Registries() {
  const { t } = useTranslation();
  const { can } = useSession();
  const staff = can('registry:manage');
  if (!can('registry:read')) return null;
  return (
    <section>
      <h2>{t('environments.registries')}</h2>
      {staff && <Allow />}
      <ServerTable
        path="/v1/registries"
        label={t('environments.registries')}
        rowKey={(r) => r.registry_id}
        rowName={(r) => r.host}
        columns={[
          { name: 'host', label: t('environments.host'), cell: (r) => <Code>{r.host}</Code> },
          { name: 'zone', label: t('col.zone'), cell: (r) => <Code>{r.zone}</Code> },
          {
            name: 'allowed',
            label: t('col.state'),
            cell: (r) => t(r.allowed ? 'environments.registryOpen' : 'environments.registryShut'),
          },
          { name: 'description', label: t('col.description'), cell: (r) => <Name>{r.description}</Name> },
          {
            name: 'hosts',
            label: t('environments.otherHosts'),
            cell: (r) => <Code>{r.hosts.join(', ')}</Code>,
            extra: true,
          },
        ]}
        {...(staff ? { rowActions: (r: Registry) => <RegistryActs registry={r} /> } : {})}
        empty={
          <Empty
            title={t('environments.registriesNone')}
            body={t('environments.registriesNoneBody')}
            cli="falaj registry list"
          />
        }
      />
    </section>
  );
}
