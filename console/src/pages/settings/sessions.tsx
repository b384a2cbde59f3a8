// SPDX-License-Identifier: Apache-2.0
// sessions.tsx - what a list says of each session, one's own or a member's.
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { Code, Time } from '../../ui/bits.tsx';
import type { Column } from '../../ui/table/types.ts';

const BROWSERS: [RegExp, string][] = [
  [/Edg\/(\d+)/, 'Edge'],
  [/OPR\/(\d+)/, 'Opera'],
  [/Firefox\/(\d+)/, 'Firefox'],
  [/Chrome\/(\d+)/, 'Chrome'],
  [/Version\/(\d+).*Safari/, 'Safari'],
];
const SYSTEMS: [RegExp, string][] = [
  [/Windows/, 'Windows'],
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
];
/** A browser by name and system; what cannot be told stands as it was sent, which the title always holds. */
function Browser({ agent }: { agent: string }) {
  const b = BROWSERS.map(([re, name]) => [re.exec(agent), name] as const).find(([m]) => m !== null);
  const system = SYSTEMS.find(([re]) => re.test(agent))?.[1];
  if (!b) return <Code>{agent}</Code>;
  return (
    <bdi dir="ltr" translate="no" title={agent}>
      {`${b[1]} ${b[0]![1]!}${system ? ` · ${system}` : ''}`}
    </bdi>
  );
}

export function useSessionColumns(): Column<Schemas['session']>[] {
  const { t } = useTranslation();
  return [
    { name: 'user_agent', label: t('settings.browser'), cell: (s) => <Browser agent={s.user_agent ?? ''} /> },
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
