// SPDX-License-Identifier: Apache-2.0
// bits.tsx - small things that every page shows alike: ids, times, states, pairs of term and value.
import {
  ClipboardCopy,
  DescriptionList,
  DescriptionListDescription,
  DescriptionListGroup,
  DescriptionListTerm,
  Label,
  Timestamp,
  Tooltip,
} from '@patternfly/react-core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { dateTime, relative, timeOfDay, utc } from '../lib/format.ts';
import { usePrefs } from '../lib/prefs.ts';
import { readSearch } from '../lib/search.ts';
import { titleOf, type Called as Titled } from '../lib/titles.ts';
import { inMain } from './overlay.ts';
import './shapes.css';

/** Text of people and programs: its own direction, no effect on what stands around it. */
export const Name = ({ children }: { children: string | undefined }) => {
  const { t } = useTranslation();
  const erased = /^erased-[0-9a-f]{26}([0-9a-f]{6})$/.exec(children ?? '');
  return (
    <bdi className="name" {...(erased ? { title: children } : {})}>
      {erased ? t('state.erasedPerson', { id: `\u2068${erased[1]}\u2069` }) : children}
    </bdi>
  );
};
/** What a thing is called for people, in the reader's language. */
export function Called({ of }: { of: Titled | undefined }) {
  useTranslation();
  return <Name>{titleOf(of)}</Name>;
}
/** A short code is never broken, as half of a phone's line holds it; a long one wherever the line ends, and of pairs it takes a
 * line of its own, since half of one holds 32 letters. */
export const Code = ({ children }: { children: string | number | undefined }) => {
  const { length } = String(children ?? '');
  return (
    <bdi dir="ltr" className={`code${length <= 22 ? ' short' : length > 32 ? ' long' : ''}`} translate="no">
      {children}
    </bdi>
  );
};

export function Id({ value }: { value: string | undefined }) {
  const { t } = useTranslation();
  if (!value) return null;
  return (
    <bdi dir="ltr" className="id">
      <ClipboardCopy
        isReadOnly
        variant="inline-compact"
        isCode
        hoverTip={t('act.copy')}
        clickTip={t('act.copied')}
        aria-label={t('act.copyId')}
      >
        {value}
      </ClipboardCopy>
    </bdi>
  );
}
export const shortId = (id: string | undefined): string =>
  id && id.length > 18 ? `${id.slice(0, 8)}…${id.slice(-6)}` : (id ?? '');

/** ago: how long since. clock: the time of day only, where the day is said beside it. */
export function Time({
  at,
  ago = false,
  clock: short = false,
}: {
  at: string | undefined;
  ago?: boolean;
  clock?: boolean;
}) {
  usePrefs();
  if (!at) return null;
  return (
    <Tooltip
      appendTo={inMain}
      content={
        <span>
          <bdi dir="ltr">{utc(at)}</bdi>
          <br />
          {ago || short ? dateTime(at) : relative(at)}
        </span>
      }
    >
      <Timestamp date={new Date(at)}>{ago ? relative(at) : short ? timeOfDay(at) : dateTime(at)}</Timestamp>
    </Tooltip>
  );
}

const COLOURS: Record<string, 'green' | 'blue' | 'red' | 'orange' | 'grey' | 'teal'> = {
  COMPLETED: 'green',
  SUCCEEDED: 'green',
  READY: 'green',
  ACTIVE: 'green',
  PUBLISHED: 'green',
  active: 'green',
  ACCEPTED: 'green',
  OPEN: 'teal',
  EXECUTED: 'green',
  DONE: 'green',
  UP: 'green',
  PRIMARY: 'green',
  CURRENT: 'green',
  DECRYPT_ONLY: 'teal',
  DESTROY_SCHEDULED: 'orange',
  success: 'green',
  READABLE: 'green',
  RUNNING: 'blue',
  STARTING: 'blue',
  ADMITTED: 'teal',
  DEPLOYING: 'blue',
  FAILED: 'red',
  TIMEOUT: 'red',
  OUT_OF_MEMORY: 'red',
  NODE_FAIL: 'red',
  DEADLINE: 'red',
  REJECTED: 'red',
  LOST: 'red',
  DOWN: 'red',
  DIFFERS: 'red',
  ABSENT: 'red',
  OVERDUE: 'red',
  QUARANTINED: 'red',
  DESTROYED: 'red',
  denied: 'red',
  failed: 'red',
  REFUSED: 'red',
  PREEMPTED: 'orange',
  PREEMPTING: 'orange',
  SUSPENDED: 'orange',
  DRAINING: 'orange',
  HELD: 'orange',
  PAUSED: 'orange',
  REQUEUED: 'orange',
  DISABLED: 'orange',
  PENDING: 'teal',
  RETIRED: 'grey',
};
export function State({ value }: { value: string | undefined }) {
  const { t, i18n } = useTranslation();
  if (!value) return null;
  const key = `value.${value}`;
  return (
    <Label isCompact color={COLOURS[value] ?? 'grey'}>
      {i18n.exists(key) ? t(key) : <Code>{value}</Code>}
    </Label>
  );
}

export function Pairs({ rows }: { rows: [term: string, value: ReactNode][] }) {
  return (
    <DescriptionList isCompact columnModifier={{ default: '1Col', lg: '2Col' }} isHorizontal className="pairs">
      {rows
        .filter(([, v]) => v !== undefined && v !== null && v !== false && v !== '')
        .map(([term, value]) => (
          <DescriptionListGroup key={term}>
            <DescriptionListTerm>{term}</DescriptionListTerm>
            <DescriptionListDescription>{value}</DescriptionListDescription>
          </DescriptionListGroup>
        ))}
    </DescriptionList>
  );
}
/** to: a path of this site, with its query and its #part where it has them. */
export function To({ to, children }: { to: string; children: ReactNode }) {
  const at = new URL(to, location.origin);
  return (
    <Link to={at.pathname} search={readSearch(at.search) as never} hash={at.hash.slice(1)} className="to">
      {children}
    </Link>
  );
}
export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    <pre className="json" dir="ltr" translate="no" aria-label={label} role="region" tabIndex={0}>
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}
