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
import { CubesIcon, ExclamationCircleIcon, SearchIcon } from '@patternfly/react-icons';
import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Alert } from './alert.tsx';
import { Problem } from '../api/problem.ts';

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
    <p className="server-words">
      <span>{t('state.serverSays')}</span>{' '}
      <bdi lang="en" dir="ltr" translate="no">
        {problem.message}
      </bdi>
    </p>
  );
}

export function Failure({ problem, retry }: { problem: unknown; retry?: () => void }) {
  const { t } = useTranslation();
  const text = useProblemText();
  if (problem instanceof Problem && problem.status === 404) return <NotFound />;
  return (
    <EmptyState titleText={text(problem)} headingLevel="h2" icon={ExclamationCircleIcon} status="danger" variant="sm">
      <EmptyStateBody>
        <ServerWords problem={problem} />
        {problem instanceof Problem && problem.retryAfter > 0 && (
          <p>{t('state.retryIn', { count: problem.retryAfter })}</p>
        )}
        {problem instanceof Problem && problem.requestId !== '' && (
          <p>
            {t('state.requestId')}{' '}
            <ClipboardCopy
              isReadOnly
              variant="inline-compact"
              hoverTip={t('act.copy')}
              clickTip={t('act.copied')}
              aria-label={t('state.requestId')}
            >
              {problem.requestId}
            </ClipboardCopy>
          </p>
        )}
      </EmptyStateBody>
      {retry && (
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
