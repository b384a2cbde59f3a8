// SPDX-License-Identifier: Apache-2.0
// Drawers.tsx - beside the page: the calls that show the same, and the news.
import {
  Button,
  ClipboardCopy,
  NotificationDrawer,
  NotificationDrawerBody,
  NotificationDrawerHeader,
  NotificationDrawerList,
  NotificationDrawerListItem,
  NotificationDrawerListItemBody,
  NotificationDrawerListItemHeader,
  Title,
} from '@patternfly/react-core';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { curl } from '../lib/calls.ts';
import type { Notice } from '../lib/notices.ts';
import { Name, State, Time } from '../ui/bits.tsx';
import { useCalls } from '../ui/page.tsx';

export function CallsDrawer({ close }: { close: () => void }) {
  const { t } = useTranslation();
  const calls = useCalls();
  const lines = (of: string[], label: string) =>
    of.map((c) => (
      <div key={c} className="cli-line">
        <ClipboardCopy
          isReadOnly
          isCode
          variant="expansion"
          isExpanded
          hoverTip={t('act.copy')}
          clickTip={t('act.copied')}
          textAriaLabel={label}
          toggleAriaLabel={t('act.expand')}
          dir="ltr"
        >
          {c}
        </ClipboardCopy>
      </div>
    ));
  return (
    <NotificationDrawer role="region" aria-label={t('shell.calls')}>
      <NotificationDrawerHeader title={t('shell.calls')} onClose={close} closeButtonAriaLabel={t('act.close')} />
      <NotificationDrawerBody className="calls">
        <Title headingLevel="h2" size="md">
          {t('shell.api')}
        </Title>
        <p className="lead">{t('shell.curl')}</p>
        {lines(
          calls.api.map((c) => curl(c, location.origin)),
          t('shell.api'),
        )}
        <Title headingLevel="h2" size="md">
          {t('shell.cli')}
        </Title>
        {lines(calls.cli, t('shell.cli'))}
      </NotificationDrawerBody>
    </NotificationDrawer>
  );
}

export function NoticesDrawer({
  list,
  readAll,
  clear,
  close,
}: {
  list: Notice[];
  readAll: () => void;
  clear: () => void;
  close: () => void;
}) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  // What is seen is read when the drawer closes: until then it stays marked as new.
  useEffect(() => readAll, [readAll]);
  const word = (n: Notice) =>
    n.kind === 'job' ? (
      <State value={n.state} />
    ) : i18n.exists(`approvals.kind_${n.state}`) ? (
      t(`approvals.kind_${n.state}`)
    ) : (
      t('notices.approval')
    );
  return (
    <NotificationDrawer role="region" aria-label={t('notices.title')}>
      <NotificationDrawerHeader title={t('notices.title')} onClose={close} closeButtonAriaLabel={t('act.close')}>
        {list.length > 0 && (
          <Button variant="link" isInline onClick={clear}>
            {t('notices.clear')}
          </Button>
        )}
      </NotificationDrawerHeader>
      <NotificationDrawerBody>
        {list.length === 0 ? (
          <p className="calls lead">{t('notices.none')}</p>
        ) : (
          <NotificationDrawerList aria-label={t('notices.title')}>
            {list.map((n) => (
              <NotificationDrawerListItem
                key={n.key}
                variant={n.kind === 'approval' ? 'warning' : n.state === 'COMPLETED' ? 'success' : 'danger'}
                isRead={n.read}
                onClick={() => {
                  close();
                  void navigate({ to: n.kind === 'job' ? `/jobs/${n.id}` : '/approvals' });
                }}
              >
                <NotificationDrawerListItemHeader
                  variant={n.kind === 'approval' ? 'warning' : n.state === 'COMPLETED' ? 'success' : 'danger'}
                  title={n.kind === 'job' ? t('notices.job', { name: `\u2068${n.name}\u2069` }) : t('notices.approval')}
                  srTitle={n.read ? '' : t('notices.new')}
                  headingLevel="h2"
                />
                <NotificationDrawerListItemBody timestamp={<Time at={new Date(n.at).toISOString()} ago />}>
                  {word(n)} {n.kind === 'approval' && <Name>{n.name}</Name>}
                </NotificationDrawerListItemBody>
              </NotificationDrawerListItem>
            ))}
          </NotificationDrawerList>
        )}
      </NotificationDrawerBody>
    </NotificationDrawer>
  );
}
