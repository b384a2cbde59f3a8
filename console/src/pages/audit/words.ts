// SPDX-License-Identifier: Apache-2.0
// words.ts - an event of the log in the reader's words: who did what to what, from where, and how it ended.
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { sentenceKey } from '../../lib/audit-actions.ts';
import { useSession } from '../../shell/session.tsx';
import { shortId } from '../../ui/bits.tsx';
import { titleOf } from '../../lib/titles.ts';

export type Item = Schemas['audit_item'];
interface Body {
  ts_us?: number;
  action?: string;
  code?: string;
  actor?: { type?: string; id?: string | null; roles?: string[] };
  src_ip?: string | null;
  request_id?: string | null;
  resource?: { kind?: string | null; id?: string | null };
  decision?: { effect?: string; rule?: string | null };
  outcome?: string;
  http_status?: number | null;
  details?: Record<string, string | number>;
}
export type Verdict = 'success' | 'denied' | 'failed';
export interface Facts {
  at: string | undefined;
  action: string;
  verdict: Verdict;
  outcome: string;
  actorKind: string;
  actorId: string;
  actorName: string;
  kind: string;
  id: string;
  /** What that is called, or was when it was deleted; empty: it has no name. */
  name: string;
  ip: string;
  /** Why an address is not shown: it is of a person who was erased, or sealed by another log's key. */
  hidden: 'erased' | 'unreadable' | '';
  isSealed: boolean;
  requestId: string;
  rule: string;
  roles: string[];
  status: number | undefined;
  details: [string, string][];
  isDropped: boolean;
}
export const userId = (uuid: string): string => `usr_${uuid.replaceAll('-', '')}`;

/** What the API took out of the event for reading, and the event itself where it did not. */
export function factsOf(item: Item): Facts {
  const e = (item.event ?? {}) as Body;
  const isSealed = e.src_ip?.startsWith('sealed:') === true;
  const outcome = item.outcome ?? e.outcome ?? '';
  return {
    at: item.at ?? (e.ts_us ? new Date(e.ts_us / 1000).toISOString() : undefined),
    action: item.action ?? e.action ?? '',
    verdict: outcome === 'success' || outcome === '' ? 'success' : e.decision?.effect === 'deny' ? 'denied' : 'failed',
    outcome,
    actorKind: item.actor_kind ?? e.actor?.type ?? '',
    actorId: item.actor_id ?? (e.actor?.id ? userId(e.actor.id) : ''),
    actorName: item.actor_name ?? '',
    kind: item.resource_kind ?? e.resource?.kind ?? '',
    id: item.resource_id ?? e.resource?.id ?? '',
    name: titleOf({
      name: item.resource_name,
      display_name: item.resource_display_name,
      display_name_ar: item.resource_display_name_ar,
    }),
    ip: item.src_ip ?? (isSealed ? '' : (e.src_ip ?? '')),
    hidden: item.personal === 'erased' || item.personal === 'unreadable' ? item.personal : '',
    isSealed,
    requestId: item.request_id ?? e.request_id ?? '',
    rule: e.decision?.rule ?? '',
    roles: e.actor?.roles ?? [],
    status: item.http_status ?? e.http_status ?? undefined,
    details: Object.entries(e.details ?? {}).map(([k, v]) => [k, String(v)]),
    isDropped: item.event === undefined || item.event === null,
  };
}

/** What an erasure leaves of a person's name. */
const ERASED = /^erased-[0-9a-f]{32}$/;
export interface Known {
  names: Map<string, string>;
  people: { id: string; name: string }[];
  erased: Set<string>;
}
/** Names of people, where this person may see them: the log itself holds none. Names of things come with each event. */
export function useKnown(): Known {
  const { can } = useSession();
  const users = useGet('/v1/users', { page_size: 200 }, { enabled: can('user:read') });
  return useMemo(() => {
    const all = (users.data?.data ?? []).map((u) => ({ id: u.user_id!, name: u.name ?? '' }));
    const people = all.filter((u) => !ERASED.test(u.name));
    const erased = new Set(all.filter((u) => ERASED.test(u.name)).map((u) => u.id));
    return { people, erased, names: new Map(people.map((x) => [x.id, x.name])) };
  }, [users.data]);
}

/** Names keep their own direction inside a sentence of the other one. */
const apart = (s: string): string => `\u2068${s}\u2069`;

export function useSentence(): (f: Facts, known: Known) => string {
  const { t, i18n } = useTranslation();
  return (f, { names, erased }) => {
    if (f.isDropped && f.action === '') return t('audit.dropped');
    const name = f.actorName || names.get(f.actorId);
    const isErased = erased.has(f.actorId) || (name !== undefined && ERASED.test(name));
    const named = isErased ? t('audit.erasedPerson') : name;
    const kindOfActor = i18n.exists(`audit.by_${f.actorKind}`) ? t(`audit.by_${f.actorKind}`) : f.actorKind;
    const who = named
      ? apart(named)
      : f.actorId && f.actorKind !== 'system'
        ? `${kindOfActor} ${apart(shortId(f.actorId))}`
        : kindOfActor;
    const thing = i18n.exists(`thing.${f.kind}`) ? t(`thing.${f.kind}`) : f.kind ? apart(f.kind) : t('audit.something');
    const label = f.name || names.get(f.id) || shortId(f.id);
    const what = label ? `${thing} ${apart(label)}` : thing;
    const key = sentenceKey(f.action);
    const said = i18n.exists(key) ? t(key, { who, what }) : t('audit.other', { who, action: apart(f.action), what });
    const ended = f.verdict === 'success' ? said : t(`audit.said_${f.verdict}`, { said });
    if (f.hidden === 'erased') return t('audit.fromErased', { said: ended });
    return f.ip ? t('audit.from', { said: ended, ip: apart(f.ip) }) : ended;
  };
}
