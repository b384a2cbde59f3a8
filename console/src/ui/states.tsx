// SPDX-License-Identifier: Apache-2.0
// states.tsx - the four faces of whatever is asked of the API: on its way, empty, failed, not there.
import {
  Button,
  ClipboardCopy,
  EmptyState,
  EmptyStateActions,
  EmptyStateBody,
  EmptyStateFooter,
  Skeleton,
  Stack,
} from '@patternfly/react-core';
import {
  CubesIcon,
  DisconnectedIcon,
  ExclamationCircleIcon,
  HourglassHalfIcon,
  LockIcon,
  SearchIcon,
  WrenchIcon,
} from '@patternfly/react-icons';
import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Alert } from './alert.tsx';
import { To } from './bits.tsx';
import { watchConnection } from '../api/client.ts';
import { faceOf, Problem, waitOf } from '../api/problem.ts';
import { Remedy } from './remedy.tsx';

/** Nothing for 300 ms, then grey bars: what is fast does not flicker. */
export function Loading() {
  const { t } = useTranslation();
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return late ? (
    <div role="status" aria-label={t('state.loading')}>
      <Stack hasGutter>
        <Skeleton width="60%" screenreaderText={t('state.loading')} />
        <Skeleton />
        <Skeleton width="85%" />
      </Stack>
    </div>
  ) : (
    <div role="status" aria-label={t('state.loading')} className="waiting" />
  );
}

export function useProblemText(): (p: unknown) => string {
  const { t, i18n } = useTranslation();
  return (p) => {
    const code = p instanceof Problem ? p.code : 'internal';
    return i18n.exists(`problem.${code}`) ? t(`problem.${code}`) : t('problem.internal');
  };
}

/** What the server said itself, in its own language: English, also on an Arabic page. */
export function ServerWords({ problem }: { problem: unknown }) {
  const { t } = useTranslation();
  if (!(problem instanceof Problem) || problem.message === '') return null;
  return (
    <>
      <p className="server-words">
        <span>{t('state.serverSays')}</span>{' '}
        <bdi lang="en" dir="ltr" translate="no">
          {problem.message}
        </bdi>
      </p>
      {problem.remedy && <Remedy of={problem.remedy} />}
    </>
  );
}

const FACES = {
  forbidden: [LockIcon, 'warning'],
  busy: [HourglassHalfIcon, 'warning'],
  maintenance: [WrenchIcon, 'info'],
  offline: [DisconnectedIcon, 'warning'],
  failed: [ExclamationCircleIcon, 'danger'],
} as const;

/** Seconds until it is asked again by itself; 0: not by itself. */
function useAgain(problem: unknown, retry: (() => void) | undefined): number {
  const wait = problem instanceof Problem ? waitOf(problem) : 0;
  const [left, setLeft] = useState(wait);
  useEffect(() => {
    setLeft(wait);
    if (wait === 0 || !retry) return undefined;
    const end = Date.now() + wait * 1000;
    const timer = setInterval(() => {
      const now = Math.max(0, Math.ceil((end - Date.now()) / 1000));
      setLeft(now);
      if (now > 0) return;
      clearInterval(timer);
      retry();
    }, 250);
    return () => clearInterval(timer);
    // Anew for each failure, not for each drawing
  }, [problem]);
  useEffect(
    () =>
      problem instanceof Problem && problem.status === 0 && retry ? watchConnection((up) => up && retry()) : undefined,
    [problem],
  );
  return retry ? left : 0;
}

/** What cannot be drawn: what it is, what to do, the id under which the operators find it. What passes is tried again by itself. */
export function Failure({ problem, retry }: { problem: unknown; retry?: () => void }) {
  const { t } = useTranslation();
  const text = useProblemText();
  const left = useAgain(problem, retry);
  if (problem instanceof Problem && problem.status === 404) return <NotFound />;
  const kind = problem instanceof Problem ? faceOf(problem) : 'failed';
  const [icon, status] = FACES[kind];
  return (
    <EmptyState
      titleText={kind === 'maintenance' ? t('state.maintenance') : text(problem)}
      headingLevel="h2"
      icon={icon}
      status={status}
      variant="sm"
      className={`failure ${kind}`}
    >
      <EmptyStateBody>
        <p>{t(`state.${kind}Do`)}</p>
        <ServerWords problem={problem} />
        {left > 0 && <p role="timer">{t('state.againIn', { count: left })}</p>}
        {problem instanceof Problem && problem.requestId !== '' && (
          <p>
            {t('state.requestId')}{' '}
            <bdi dir="ltr">
              <ClipboardCopy
                isReadOnly
                variant="inline-compact"
                hoverTip={t('act.copy')}
                clickTip={t('act.copied')}
                aria-label={t('state.requestId')}
              >
                {problem.requestId}
              </ClipboardCopy>
            </bdi>
          </p>
        )}
      </EmptyStateBody>
      {retry && kind !== 'forbidden' && (
        <EmptyStateFooter>
          <EmptyStateActions>
            <Button variant="primary" onClick={retry}>
              {t('act.retry')}
            </Button>
          </EmptyStateActions>
        </EmptyStateFooter>
      )}
    </EmptyState>
  );
}

/** The same for what is absent and for what belongs to somebody else. */
export function NotFound() {
  const { t } = useTranslation();
  return (
    <EmptyState titleText={t('state.notFound')} headingLevel="h2" icon={SearchIcon} variant="sm">
      <EmptyStateBody>{t('state.notFoundBody')}</EmptyStateBody>
      <EmptyStateFooter>
        <EmptyStateActions>
          <To to="/">{t('state.toOverview')}</To>
        </EmptyStateActions>
      </EmptyStateFooter>
    </EmptyState>
  );
}

export function Empty({ title, body, action, cli }: { title: string; body: string; action?: ReactNode; cli?: string }) {
  const { t } = useTranslation();
  return (
    <EmptyState titleText={title} headingLevel="h2" icon={CubesIcon} variant="sm">
      <EmptyStateBody>{body}</EmptyStateBody>
      <EmptyStateFooter>
        {action && <EmptyStateActions>{action}</EmptyStateActions>}
        {cli && (
          <div className="cli-line">
            <ClipboardCopy
              isReadOnly
              hoverTip={t('act.copy')}
              clickTip={t('act.copied')}
              textAriaLabel={t('shell.cli')}
              dir="ltr"
            >
              {cli}
            </ClipboardCopy>
          </div>
        )}
      </EmptyStateFooter>
    </EmptyState>
  );
}

/** One query's answer drawn; a later failure keeps what is there and says that it is old. */
export function Answer<T>({ of, children }: { of: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  const text = useProblemText();
  const { t } = useTranslation();
  if (of.data !== undefined) {
    return (
      <>
        {of.isError && <Alert isInline variant="warning" title={t('state.old', { why: text(of.error) })} />}
        {children(of.data)}
      </>
    );
  }
  return of.isError ? <Failure problem={of.error} retry={() => void of.refetch()} /> : <Loading />;
}
