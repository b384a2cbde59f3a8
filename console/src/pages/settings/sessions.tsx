// SPDX-License-Identifier: Apache-2.0
// sessions.tsx - what a list says of each session, one's own or a member's.
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { Code, Time } from '../../ui/bits.tsx';
import type { Column } from '../../ui/table/types.ts';

export function useSessionColumns(): Column<Schemas['session']>[] {
  const { t } = useTranslation();
  return [
    { name: 'user_agent', label: t('settings.browser'), cell: (s) => <Code>{s.user_agent}</Code> },
    { name: 'ip', label: t('settings.address'), cell: (s) => <Code>{s.ip}</Code> },
    {
      name: 'method',
      label: t('settings.method'),
      cell: (s) => t(`settings.method_${s.method!.replace('-', '_')}`),
    },
    { name: 'created_at', label: t('settings.since'), cell: (s) => <Time at={s.created_at} /> },
    {
      name: 'last_seen',
      label: t('settings.seen'),
      cell: (s) => (s.is_current ? t('settings.here') : <Time at={s.last_seen} ago />),
    },
  ];
}
