// SPDX-License-Identifier: Apache-2.0
// Engines.tsx - outside schedulers that lend nodes for one lease: how each is, what it may lend, and adding one.
import { useTranslation } from 'react-i18next';
import { change, withQuery, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, State, Time, To } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { formFields, SLUG } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable, useListSearch } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';

export const ENGINES = '/v1/engines';
export type Engine = Schemas['engine'];

/** One that gets no runs is paused, however it answers. */
export const stateOf = (g: Engine): string => (g.enabled ? g.health : 'PAUSED');

const ADDRESS = /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1|\[::1\])|unix:\/)/;
const WORD = /^[A-Za-z0-9._-]{1,64}$/;
const FILE = /^[a-z0-9][a-z0-9._-]{0,62}$/;
const PATH = /^\//;
const IMAGE = /^[A-Za-z0-9._\-/:]+@sha256:[0-9a-f]{64}$/;
const LABELS = /^[^=,\s]+=[^=,\s]*(,[^=,\s]+=[^=,\s]*)*$/;
const TAINT = '[^:,\\s]+:(NoSchedule|PreferNoSchedule|NoExecute)';
const TAINTS = new RegExp(`^${TAINT}(,${TAINT})*$`);
const KINDS = ['slurm', 'kubernetes'] as const;
/** Of a kind that starts containers: what is asked for them alone. */
export const hasImages = (of: { kind?: unknown }): boolean => of.kind === 'kubernetes';

function Add() {
  const { t } = useTranslation();
  const forget = useForget();
  const zones = useGet('/v1/zones', { page_size: 200 });
  if (!zones.data) return null;
  const fields = formFields(
    { name: 'name', label: t('col.name'), required: true, pattern: SLUG, max: 48, help: t('engines.nameHelp') },
    {
      name: 'kind',
      label: t('col.kind'),
      kind: 'select',
      options: KINDS.map((value) => ({ value, label: `${value} · ${t(`engines.kind_${value}`)}` })),
      help: t('engines.kindHelp'),
    },
    {
      name: 'zone',
      label: t('col.zone'),
      kind: 'select',
      options: zones.data.data.map((z) => ({ value: z.code!, label: `${z.code!} · ${z.name!}` })),
    },
    {
      name: 'address',
      label: t('engines.address'),
      required: true,
      ltr: true,
      pattern: ADDRESS,
      help: t('engines.addressHelp'),
    },
    { name: 'account', label: t('engines.account'), ltr: true, pattern: WORD, help: t('engines.accountHelp') },
    { name: 'credential', label: t('engines.credential'), ltr: true, pattern: FILE, help: t('engines.credentialHelp') },
    { name: 'authority', label: t('engines.authority'), ltr: true, pattern: FILE, help: t('engines.authorityHelp') },
    { name: 'place', label: t('engines.place'), ltr: true, pattern: WORD, help: t('engines.placeHelp') },
    {
      name: 'image',
      label: t('engines.image'),
      required: true,
      ltr: true,
      pattern: IMAGE,
      max: 512,
      help: t('engines.imageHelp'),
      when: hasImages,
    },
    {
      name: 'node_selector',
      label: t('engines.selector'),
      ltr: true,
      pattern: LABELS,
      max: 512,
      help: t('engines.selectorHelp'),
      when: hasImages,
    },
    {
      name: 'tolerations',
      label: t('engines.tolerations'),
      ltr: true,
      pattern: TAINTS,
      max: 512,
      help: t('engines.tolerationsHelp'),
      when: hasImages,
    },
    { name: 'machines', label: t('engines.machines'), kind: 'number', min: 1, max: 1000 },
    { name: 'longest_seconds', label: t('engines.longest'), kind: 'number', min: 60, max: 31_622_400 },
    { name: 'worker', label: t('engines.worker'), ltr: true, pattern: PATH },
    { name: 'worker_config', label: t('engines.config'), ltr: true, pattern: PATH },
    { name: 'folder', label: t('engines.folder'), ltr: true, pattern: PATH },
  );
  const words = [
    'account',
    'credential',
    'authority',
    'place',
    'image',
    'node_selector',
    'tolerations',
    'worker',
    'worker_config',
    'folder',
  ] as const;
  return (
    <FormButton
      label={t('engines.add')}
      title={t('engines.add')}
      opens="engine"
      size="medium"
      fields={fields}
      initial={{
        kind: 'slurm',
        zone: zones.data.data[0]?.code ?? '',
        machines: '8',
        longest_seconds: '86400',
        worker: '/usr/bin/falaj-worker',
        worker_config: '/etc/falaj/worker.conf',
        folder: '/tmp',
      }}
      lead={<p className="effect">{t('engines.addLead')}</p>}
      onSubmit={async (v) => {
        await change('POST', ENGINES, {
          name: v.name,
          kind: v.kind,
          zone: v.zone,
          address: v.address,
          ...Object.fromEntries(words.flatMap((w) => (v[w] ? [[w, v[w]]] : []))),
          ...(v.machines ? { machines: Number(v.machines) } : {}),
          ...(v.longest_seconds ? { longest_seconds: Number(v.longest_seconds) } : {}),
        });
        toast(t('engines.added'));
        await forget(ENGINES);
      }}
    />
  );
}

/** after: where the reader is led once it is removed. */
export function EngineActs({ engine, after }: { engine: Engine; after?: () => void }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  if (!can('engine:manage')) return null;
  const path = `${ENGINES}/${engine.engine_id}` as const;
  const [act, label, effect] = engine.enabled
    ? (['disable', t('engines.pause'), t('engines.pauseEffect')] as const)
    : (['enable', t('engines.resume'), t('engines.resumeEffect')] as const);
  return (
    <span className="acts">
      <FormButton
        variant="link"
        label={label}
        title={label}
        fields={[]}
        lead={<p className="effect">{effect}</p>}
        onSubmit={async () => {
          await change('POST', `${path}/${act}`);
          await forget(ENGINES);
        }}
      />
      <TypedConfirm
        variant="link"
        label={t('engines.remove')}
        title={t('engines.remove')}
        name={engine.name}
        effect={t('engines.removeEffect')}
        {...(engine.runs > 0 ? { why: t('engines.removeWhy') } : {})}
        onConfirm={async () => {
          await change('DELETE', path);
          toast(t('engines.removed'));
          after?.();
          await forget(ENGINES);
        }}
      />
    </span>
  );
}

export function Engines() {
  const { t } = useTranslation();
  const { can } = useSession();
  return (
    <Page
      name={t('nav.engines')}
      title={t('nav.engines')}
      lead={t('engines.lead')}
      crumbs={[[t('nav.workers'), '/workers']]}
      api={[`GET ${withQuery(ENGINES, useListSearch([]))}`, ...(can('engine:manage') ? [`POST ${ENGINES}`] : [])]}
      cli={['falaj engine list', ...(can('engine:manage') ? ['falaj engine add NAME ADDRESS --zone ZONE'] : [])]}
      actions={can('engine:manage') && <Add />}
    >
      <ServerTable
        path={ENGINES}
        label={t('nav.engines')}
        rowKey={(g) => g.engine_id}
        rowName={(g) => g.name}
        columns={[
          {
            name: 'name',
            label: t('col.name'),
            cell: (g) => (
              <To to={`/engines/${g.engine_id}`}>
                <Code>{g.name}</Code>
              </To>
            ),
          },
          { name: 'kind', label: t('col.kind'), cell: (g) => <Code>{g.kind}</Code> },
          { name: 'health', label: t('col.state'), cell: (g) => <State value={stateOf(g)} /> },
          { name: 'health_says', label: t('engines.says'), cell: (g) => <Says text={g.health_says} /> },
          { name: 'runs', label: t('engines.runs'), cell: (g) => number(g.runs) },
          { name: 'machines', label: t('engines.machines'), cell: (g) => number(g.machines), extra: true },
          { name: 'zone', label: t('col.zone'), cell: (g) => <Code>{g.zone}</Code> },
          { name: 'pool', label: t('col.pool'), cell: (g) => <Code>{g.pool}</Code>, extra: true },
          { name: 'heard_at', label: t('engines.heard'), cell: (g) => <Time at={g.heard_at} ago /> },
          { name: 'address', label: t('engines.address'), cell: (g) => <Code>{g.address}</Code>, extra: true },
        ]}
        rowActions={(g) => <EngineActs engine={g} />}
        empty={
          <Empty
            title={t('engines.none')}
            body={t('engines.lead')}
            {...(can('engine:manage') ? { action: <Add /> } : {})}
            cli="falaj engine add NAME ADDRESS --zone ZONE"
          />
        }
      />
    </Page>
  );
}

/** What a program said: English, also on an Arabic page. */
export function Says({ text }: { text: string | undefined }) {
  if (!text) return null;
  return (
    <bdi lang="en" dir="ltr" translate="no">
      {text}
    </bdi>
  );
}
