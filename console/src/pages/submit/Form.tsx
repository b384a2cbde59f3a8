// SPDX-License-Identifier: Apache-2.0
// Form.tsx - the request as a form, in the groups of its table; the zones that are not offered stand below with the reason.
import { ExpandableSection, FormSection } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { fieldsOf, isOffered, kindOf, showField, valueAt, type Group, type JobField } from '../../lib/jobrequest.ts';
import { readsOf, type JobKind } from '../../lib/jobtypes.ts';
import { number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code } from '../../ui/bits.tsx';
import type { Draft } from './draft.ts';
import { Field, type Option } from './Field.tsx';
import { usePlaces } from './places.ts';
import { titleOf } from '../../lib/titles.ts';

interface Props {
  draft: Draft;
  sets: Schemas['dataset'][];
  eager: boolean;
}

export function RequestForm({ draft, sets, eager }: Props) {
  const { t, i18n } = useTranslation();
  const { can } = useSession();
  const kind = kindOf(draft.request);
  const setId = showField(valueAt(draft.request, 'spec.dataset_id'));
  const set = sets.find((d) => d.dataset_id === setId);
  const versions = useGet(
    `/v1/datasets/${encodeURIComponent(setId)}/versions`,
    { page_size: 200 },
    { enabled: set !== undefined && set.latest_version > 0 },
  );
  const modelId = showField(valueAt(draft.request, 'spec.model_id'));
  const models = useGet(
    '/v1/models',
    { page_size: 200 },
    { enabled: can('model:read') && fieldsOf(kind).some((f) => f.kind === 'model') },
  );
  const modelVersions = useGet(
    `/v1/models/${encodeURIComponent(modelId)}/versions`,
    { page_size: 200 },
    { enabled: models.data?.data.some((m) => m.model_id === modelId) ?? false },
  );
  const projects = useGet('/v1/projects', { page_size: 200, state: 'ACTIVE' }, { enabled: can('project:read') });
  const environments = useGet(
    '/v1/environments',
    { page_size: 200, state: 'READY' },
    { enabled: can('environment:read') && fieldsOf(kind).some((f) => f.path === 'spec.environment') },
  );
  const shared = useGet(
    '/v1/shared-environments',
    { page_size: 200 },
    { enabled: can('environment:shared') && fieldsOf(kind).some((f) => f.path === 'spec.environment') },
  );
  const hasProjects = (projects.data?.data.length ?? 0) > 0;
  const wanted = Number(valueAt(draft.request, 'spec.dataset_version') ?? 0);
  const version = versions.data?.data.find((v) => (wanted > 0 ? v.version === wanted : true));
  const isOfData = readsOf(kind) === 'dataset';
  const dataClass = isOfData && set ? set.data_class! : 'internal';
  const places = usePlaces(dataClass, isOfData ? version?.zone : undefined);
  const refused = places.verdicts.filter((p) => !p.allowed);

  const optionsOf = (f: JobField): Option[] | undefined => {
    if (f.kind === 'dataset')
      return [
        { value: '', label: t('submit.pickData') },
        ...sets.map((d) => ({
          value: d.dataset_id!,
          label:
            d.latest_version > 0
              ? t('submit.dataOption', { name: titleOf(d), what: t(`class.${d.data_class!}`) })
              : t('submit.dataEmpty', { name: titleOf(d) }),
          isDisabled: d.latest_version === 0,
        })),
      ];
    if (f.kind === 'model' && models.data)
      return [
        { value: '', label: t('submit.pickModel') },
        ...models.data.data.map((m) => ({ value: m.model_id!, label: titleOf(m) })),
      ];
    if (f.path === 'spec.model_version')
      return [
        { value: '', label: t('submit.latest') },
        ...(modelVersions.data?.data ?? []).map((v) => ({
          value: String(v.version),
          label: t('submit.modelVersionOption', { n: number(v.version), zone: v.zone }),
        })),
      ];
    if (f.kind === 'version')
      return [
        { value: '', label: t('submit.latest') },
        ...(versions.data?.data ?? []).map((v) => ({
          value: String(v.version),
          label: t('submit.versionOption', {
            n: number(v.version),
            count: v.row_count,
            rows: number(v.row_count),
            zone: v.zone,
          }),
        })),
      ];
    if (f.kind === 'zone')
      return [
        { value: '', label: isOfData ? t('submit.anyZone') : t('submit.anyAllowed') },
        ...places.verdicts
          .filter((p) => p.allowed)
          .map((p) => ({
            value: p.zone,
            label:
              !isOfData || version === undefined
                ? p.zone
                : p.zone === version.zone
                  ? t('submit.zoneHere', { zone: p.zone })
                  : t('submit.zoneCopy', { zone: p.zone }),
          })),
      ];
    if (f.path === 'spec.environment')
      return [
        { value: '', label: t('submit.envHost') },
        ...[...new Set((environments.data?.data ?? []).map((v) => v.name))].map((name) => ({
          value: name,
          label: name,
        })),
        ...(shared.data?.data ?? [])
          .filter((v) => v.state === 'PUBLISHED')
          .map((v) => ({ value: v.environment, label: t('submit.envShared', { name: v.name, zone: v.zone }) })),
      ];
    if (f.kind === 'project')
      return [
        { value: '', label: t('submit.noProject') },
        ...(projects.data?.data ?? []).map((p) => ({ value: p.project_id!, label: titleOf(p) })),
      ];
    return undefined;
  };
  const why = refused.length > 0 && (
    <div className="zone-why">
      <p>{t('submit.zonesNot')}</p>
      <ul className="plain-list">
        {refused.map((p) => (
          <li key={p.zone}>
            <Code>{p.zone}</Code> · {i18n.exists(`submit.r_${p.rule}`) ? t(`submit.r_${p.rule}`) : ''}{' '}
            <bdi lang="en" dir="ltr" className="lead">
              {p.text}
            </bdi>
          </li>
        ))}
      </ul>
    </div>
  );
  const group = (name: Group) => (
    <div className="grid2">
      {fieldsOf(kind)
        .filter((f) => f.group === name)
        .filter((f) => (isOffered(f, kind) && (f.kind !== 'project' || hasProjects)) || draft.shown(f) !== '')
        .map((f) => {
          const options = optionsOf(f);
          return (
            <Field
              key={f.path}
              field={f}
              draft={draft}
              eager={eager}
              {...(options ? { options } : {})}
              {...(f.kind === 'zone' ? { below: why } : {})}
            />
          );
        })}
    </div>
  );
  return (
    <>
      <FormSection title={t('submit.g_what')} titleElement="h2">
        {group('what')}
      </FormSection>
      <FormSection title={i18n.exists(`kind.${kind}`) ? t(`kind.${kind}`) : kind} titleElement="h2">
        {group('spec')}
        {fieldsOf(kind).some((f) => f.group === 'more') && (
          <More draft={draft} kind={kind}>
            {group('more')}
          </More>
        )}
      </FormSection>
      <FormSection title={t('submit.g_where')} titleElement="h2">
        {group('where')}
      </FormSection>
      <FormSection title={t('submit.g_limits')} titleElement="h2">
        {group('limits')}
      </FormSection>
    </>
  );
}

/** Folded while nothing in it is wrong: a fault must not hide. */
function More({ draft, kind, children }: { draft: Draft; kind: JobKind; children: React.ReactNode }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const paths = new Set(
    fieldsOf(kind)
      .filter((f) => f.group === 'more')
      .map((f) => f.path),
  );
  const isBad = draft.faults.some((f) => paths.has(f.path.slice(0, 2).join('.')));
  return (
    <ExpandableSection toggleText={t('submit.more')} isExpanded={open || isBad} onToggle={(_e, on) => setOpen(on)}>
      {children}
    </ExpandableSection>
  );
}
