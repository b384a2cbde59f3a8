// SPDX-License-Identifier: Apache-2.0
// Rules.tsx - how the tenant divides its quota among projects and queues: each rule's own part, what it may borrow, what it lends.
import { Progress } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { RULE_NEW_IN_PLACE, RULE_NEW_IN_RESOURCE } from '../../api/gen/enums.ts';
import { change, get, ifMatch, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { bodyOf, formFields, type Values } from '../../ui/form.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { titleOf } from '../../lib/titles.ts';

type Rule = Schemas['quota_rule'];
type Project = Schemas['project'];
const MOST = 1_000_000_000;
const PLACES = RULE_NEW_IN_PLACE;

const text = (n: number | null | undefined): string => (n === null || n === undefined ? '' : String(n));
const numbersOf = (r: Rule): Values => ({
  nominal: String(r.nominal),
  borrowing_limit: text(r.borrowing_limit),
  lending_limit: text(r.lending_limit),
  weight: String(r.weight),
});

/** What parts can at most be together, as the API judges it: the nearest rule above, of the project, then of the tenant, else the hard limit. */
function useCeiling(): (resource: string, of?: Rule) => number | undefined {
  const quotas = useGet('/v1/quotas');
  const rules = useGet('/v1/quota-rules', { page_size: 200 });
  return (resource, of) => {
    const cell = (r: Rule): string => `${r.flavor ?? ''} ${r.zone ?? ''}`;
    const wanted = of ? cell(of) : ' ';
    const isProject = (r: Rule): boolean =>
      r.place === 'project' && of?.place === 'queue' && r.project_id === of.project_id;
    const near = (r: Rule): number => (r.place === 'project' ? 2 : 0) + (cell(r) === wanted ? 1 : 0);
    const above = (rules.data?.data ?? [])
      .filter((r) => r.resource === resource && (isProject(r) || r.place === 'tenant'))
      .filter((r) => cell(r) === wanted || cell(r) === ' ')
      .sort((x, y) => near(y) - near(x));
    return above[0]?.nominal ?? quotas.data?.data.find((q) => q.resource === resource)?.hard_limit;
  };
}

function useNumbers() {
  const { t } = useTranslation();
  const count = { kind: 'number', min: 0, max: MOST, pattern: /^\d+$/ } as const;
  return formFields(
    { ...count, name: 'nominal', label: t('rules.nominal'), required: true },
    { ...count, name: 'borrowing_limit', label: t('rules.borrowing_limit'), help: t('rules.borrowHelp') },
    { ...count, name: 'lending_limit', label: t('rules.lending_limit'), help: t('rules.lendHelp') },
    { ...count, name: 'weight', label: t('rules.weight'), max: 1_000_000, help: t('rules.weightHelp') },
  );
}

function Ceiling({ resource, of }: { resource: string; of?: Rule }) {
  const { t } = useTranslation();
  const most = useCeiling()(resource, of);
  return most === undefined ? null : <p className="lead effect">{t('rules.ceiling', { n: number(most) })}</p>;
}

function NewRule({ projects }: { projects: Project[] }) {
  const { t } = useTranslation();
  const forget = useForget();
  const fields = formFields(
    {
      name: 'place',
      label: t('rules.place'),
      kind: 'select',
      options: PLACES.map((p) => ({ value: p, label: t(`rules.${p}`) })),
    },
    {
      name: 'project_id',
      label: t('rules.project'),
      kind: 'select',
      options: [
        { value: '', label: t('rules.noProject') },
        ...projects.map((p) => ({ value: p.project_id!, label: titleOf(p) })),
      ],
    },
    { name: 'queue', label: t('rules.queue'), help: t('rules.queueHelp'), pattern: /^[a-z0-9][a-z0-9-]{0,62}$/ },
    {
      name: 'resource',
      label: t('rules.resource'),
      kind: 'select',
      options: RULE_NEW_IN_RESOURCE.map((r) => ({ value: r, label: t(`quota.${r}`) })),
    },
    ...useNumbers(),
  );
  return (
    <FormButton
      opens="rule"
      label={t('rules.new')}
      title={t('rules.new')}
      fields={fields}
      initial={{ weight: '1000' }}
      lead={
        <>
          <Ceiling resource="slots" />
          <Ceiling resource="gpus" />
        </>
      }
      onSubmit={async (v) => {
        await change('POST', '/v1/quota-rules', bodyOf(fields, v));
        await forget('/v1/quota-rules');
      }}
    />
  );
}

function Use({ rule }: { rule: Rule }) {
  const { t } = useTranslation();
  const share = rule.nominal > 0 ? (100 * rule.used) / rule.nominal : rule.used > 0 ? 100 : 0;
  const label = t('overview.of', { used: number(rule.used), limit: number(rule.nominal) });
  return (
    <Progress
      size="sm"
      aria-label={t('rules.used')}
      value={Math.min(100, Math.round(share))}
      label={label}
      valueText={label}
      measureLocation="outside"
      {...(share > 100 ? { variant: 'warning' as const } : {})}
    />
  );
}

export function Rules() {
  const { t } = useTranslation();
  const { can } = useSession();
  const forget = useForget();
  const numbers = useNumbers();
  const projects = useGet('/v1/projects', { page_size: 200 }, { enabled: can('project:read') });
  const nameOf = (r: Rule): string =>
    [projects.data?.data.find((p) => p.project_id === r.project_id)?.name, r.queue].filter(Boolean).join(' / ') ||
    t('rules.tenant');
  const limit = (n: number | null | undefined, none: string): string =>
    n === null || n === undefined ? none : number(n);
  const setter = can('quota:set-own');
  return (
    <>
      {setter && projects.data && (
        <div className="row-of-tools">
          <NewRule projects={projects.data.data} />
        </div>
      )}
      <ServerTable
        path="/v1/quota-rules"
        label={t('rules.title')}
        filters={[
          {
            name: 'place',
            label: t('rules.place'),
            options: ['tenant', ...PLACES].map((p) => ({ value: p, label: t(`rules.${p}`) })),
          },
        ]}
        rowKey={(r) => r.rule_id!}
        columns={[
          { name: 'place', label: t('rules.place'), cell: (r) => t(`rules.${r.place!}`) },
          { name: 'queue', label: t('col.name'), cell: (r) => <Name>{nameOf(r)}</Name> },
          {
            name: 'resource',
            label: t('rules.resource'),
            cell: (r) => (
              <>
                {t(`quota.${r.resource!}`)} {r.flavor && <Code>{r.flavor}</Code>} {r.zone && <Code>{r.zone}</Code>}
              </>
            ),
          },
          { name: 'used', label: t('rules.used'), cell: (r) => <Use rule={r} /> },
          {
            name: 'borrowing_limit',
            label: t('rules.borrowing_limit'),
            cell: (r) => limit(r.borrowing_limit, t('rules.noLimit')),
          },
          {
            name: 'lending_limit',
            label: t('rules.lending_limit'),
            cell: (r) => limit(r.lending_limit, t('rules.all')),
          },
          { name: 'weight', label: t('rules.weight'), cell: (r) => number(r.weight) },
        ]}
        {...(setter
          ? {
              rowName: nameOf,
              bulk: [
                {
                  label: t('rules.remove'),
                  danger: true,
                  confirm: t('rules.removeEffect'),
                  fits: (r: Rule) => r.place !== 'tenant',
                  run: (r: Rule) => change('DELETE', `/v1/quota-rules/${r.rule_id!}`, undefined, ifMatch(r.version)),
                },
              ],
              rowActions: (r: Rule) =>
                r.place === 'tenant' ? null : (
                  <>
                    <FormButton
                      variant="link"
                      label={t('rules.edit')}
                      title={t('rules.editOf', { name: nameOf(r) })}
                      submit={t('act.save')}
                      fields={numbers}
                      initial={numbersOf(r)}
                      lead={<Ceiling resource={r.resource!} of={r} />}
                      lock={{ read: () => get(`/v1/quota-rules/${r.rule_id!}`), was: { ...r } }}
                      onSubmit={async (v, tag) => {
                        await change('PUT', `/v1/quota-rules/${r.rule_id!}`, bodyOf(numbers, v), { 'if-match': tag });
                        await forget('/v1/quota-rules');
                      }}
                    />{' '}
                    <TypedConfirm
                      variant="link"
                      label={t('rules.remove')}
                      title={t('rules.remove')}
                      name={nameOf(r)}
                      effect={t('rules.removeEffect')}
                      onConfirm={async () => {
                        await change('DELETE', `/v1/quota-rules/${r.rule_id!}`, undefined, ifMatch(r.version));
                        await forget('/v1/quota-rules');
                      }}
                    />
                  </>
                ),
            }
          : {})}
        empty={
          <Empty
            title={t('rules.none')}
            body={t('rules.noneBody')}
            cli="falaj rule create queue slots 4 --queue night"
          />
        }
      />
    </>
  );
}
