// SPDX-License-Identifier: Apache-2.0
// usual.ts - the filters that most lists share: part of the name, who made it, its project, its zone.
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { useSession } from '../../shell/session.tsx';
import type { Filter } from './types.ts';
import { titleOf } from '../../lib/titles.ts';

/** The API looks for no less. */
export const Q_MIN = 3;
/** Upwards and downwards, as the API names the orders of a list. */
export const BY_NAME = { asc: 'name', desc: '-name' };
export const BY_TIME = { asc: 'created', desc: '-created' };

export function useNameFilter(): Filter {
  const { t } = useTranslation();
  return { name: 'q', label: t('list.search'), min: Q_MIN };
}
/** Of what belongs to projects and has a maker. */
export function useOwnFilters(): Filter[] {
  const { t } = useTranslation();
  const { can, me } = useSession();
  const projects = useGet('/v1/projects', { page_size: 200, sort: 'name' }, { enabled: can('project:read') });
  const among = (projects.data?.data ?? []).map((p) => ({ value: p.project_id!, label: titleOf(p) }));
  return [
    { name: 'created_by', label: t('list.maker'), options: [{ value: me.user_id ?? '', label: t('list.me') }] },
    ...(among.length > 0 ? [{ name: 'project_id', label: t('list.project'), more: true, options: among }] : []),
  ];
}
export function useZoneFilter(): Filter[] {
  const { t } = useTranslation();
  const { me } = useSession();
  const zones = me.allowed_zones ?? [];
  return zones.length > 0
    ? [{ name: 'zone', label: t('col.zone'), more: true, options: zones.map((z) => ({ value: z, label: z })) }]
    : [];
}
