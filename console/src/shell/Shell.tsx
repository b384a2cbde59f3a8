// SPDX-License-Identifier: Apache-2.0
// Shell.tsx - what stands around every page: masthead, navigation, the drawer with the calls, keys, the state of the connection.
import {
  Alert,
  Button,
  ClipboardCopy,
  Label,
  Masthead,
  MastheadBrand,
  MastheadContent,
  MastheadMain,
  MastheadToggle,
  Modal,
  ModalBody,
  ModalHeader,
  Nav,
  NavGroup,
  NavItem,
  NotificationDrawer,
  NotificationDrawerBody,
  NotificationDrawerHeader,
  Page,
  PageSidebar,
  PageSidebarBody,
  PageToggleButton,
  SkipToContent,
  Title,
  Tooltip,
} from '@patternfly/react-core';
import { Table, Tbody, Td, Tr } from '@patternfly/react-table';
import { AdjustIcon, CodeIcon, KeyboardIcon, SignOutAltIcon } from '@patternfly/react-icons';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { isUp, watchConnection } from '../api/client.ts';
import { zoneLabel } from '../lib/format.ts';
import { setPrefs, usePrefs } from '../lib/prefs.ts';
import { useCalls } from '../ui/page.tsx';
import { Toasts } from '../ui/toast.tsx';
import { useKeys } from './keys.ts';
import { itemsFor, NAV } from './nav.ts';
import { LanguageButton } from './Prefs.tsx';
import { useSession } from './session.tsx';

const curl = (call: string): string => {
  const [method, path] = call.split(' ', 2);
  return `curl ${method === 'GET' ? '' : `-X ${method!} `}-H "Authorization: Bearer $FALAJ_TOKEN" '${location.origin}${path!}'`;
};

function CallsDrawer({ close }: { close: () => void }) {
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
    <NotificationDrawer aria-label={t('shell.calls')}>
      <NotificationDrawerHeader title={t('shell.calls')} onClose={close} closeButtonAriaLabel={t('act.close')} />
      <NotificationDrawerBody className="calls">
        <Title headingLevel="h3" size="md">
          {t('shell.api')}
        </Title>
        {lines(calls.api.map(curl), t('shell.api'))}
        <Title headingLevel="h3" size="md">
          {t('shell.cli')}
        </Title>
        {lines(calls.cli, t('shell.cli'))}
      </NotificationDrawerBody>
    </NotificationDrawer>
  );
}

function KeyHelp({ close }: { close: () => void }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const rows: [string, string][] = [
    ['?', t('keys.help')],
    ['/', t('keys.search')],
    ...(can('job:submit') ? [['c', t('submit.title')] as [string, string]] : []),
    ...itemsFor(can).map((i): [string, string] => [`g ${i.letter!}`, t(i.key)]),
  ];
  return (
    <Modal isOpen variant="small" onClose={close} aria-labelledby="keys-title">
      <ModalHeader title={t('keys.title')} labelId="keys-title" description={t('keys.off')} />
      <ModalBody>
        <Table variant="compact" aria-label={t('keys.title')}>
          <Tbody>
            {rows.map(([k, what]) => (
              <Tr key={k}>
                <Td>
                  <kbd dir="ltr">{k}</kbd>
                </Td>
                <Td>{what}</Td>
              </Tr>
            ))}
          </Tbody>
        </Table>
      </ModalBody>
    </Modal>
  );
}

export function Shell() {
  const { t } = useTranslation();
  const { me, can, leave } = useSession();
  const prefs = usePrefs();
  const up = useSyncExternalStore(watchConnection, isUp);
  const { pathname } = useLocation();
  const [drawer, setDrawer] = useState(false);
  const [help, setHelp] = useState(false);
  const wide = (): boolean => window.innerWidth >= 1200;
  const [side, setSide] = useState(wide);
  useEffect(() => {
    const width = window.matchMedia('(min-width: 1200px)');
    const on = (): void => setSide(width.matches);
    width.addEventListener('change', on);
    return () => width.removeEventListener('change', on);
  }, []);
  useKeys(
    useCallback(() => setHelp(true), []),
    useCallback(() => document.getElementById('main')?.focus(), []),
  );
  const was = useRef(pathname);
  useEffect(() => {
    if (was.current === pathname) return;
    was.current = pathname;
    if (!wide()) setSide(false);
    document.getElementById('page-title')?.focus({ preventScroll: true });
  }, [pathname]);
  const next = prefs.theme === 'system' ? 'light' : prefs.theme === 'light' ? 'dark' : 'system';
  const current = (to: string): boolean =>
    to === '/' ? pathname === '/' : pathname === to || pathname.startsWith(`${to}/`);

  const masthead = (
    <Masthead>
      <MastheadMain>
        <MastheadToggle>
          <PageToggleButton
            variant="plain"
            aria-label={t('shell.nav')}
            isHamburgerButton
            isSidebarOpen={side}
            onSidebarToggle={() => setSide(!side)}
          />
        </MastheadToggle>
        <MastheadBrand>
          <Link to="/" className="brand">
            <img src="/falaj.svg" alt="" width="28" height="28" />
            <span>{t('shell.product')}</span>
          </Link>
        </MastheadBrand>
      </MastheadMain>
      <MastheadContent className="masthead-tools">
        <span className="who">
          <bdi>{me.tenant}</bdi>
          {me.home_zone && (
            <Label isCompact color="teal">
              <bdi dir="ltr">{me.home_zone}</bdi>
            </Label>
          )}
        </span>
        <span className="tools">
          <Label isCompact color={up ? 'green' : 'red'} className="connection">
            <span role="status">{up ? t('shell.up') : t('shell.down')}</span>
          </Label>
          <Tooltip content={t('prefs.zone')}>
            <Button
              variant="plain"
              className="zone-now"
              onClick={() => setPrefs({ zone: prefs.zone === 'utc' ? 'local' : 'utc' })}
            >
              <bdi dir="ltr">{zoneLabel()}</bdi>
            </Button>
          </Tooltip>
          <Tooltip content={t('shell.calls')} aria="none">
            <Button
              variant="plain"
              icon={<CodeIcon />}
              aria-label={t('shell.calls')}
              aria-expanded={drawer}
              onClick={() => setDrawer(!drawer)}
            />
          </Tooltip>
          <Tooltip content={t('keys.title')} aria="none">
            <Button
              variant="plain"
              icon={<KeyboardIcon />}
              aria-label={t('keys.title')}
              onClick={() => setHelp(true)}
              className="keys-button"
            />
          </Tooltip>
          <Tooltip content={t('prefs.themeNow', { theme: t(`prefs.${prefs.theme}`) })} aria="none">
            <Button
              variant="plain"
              icon={<AdjustIcon />}
              aria-label={t('prefs.themeNow', { theme: t(`prefs.${prefs.theme}`) })}
              onClick={() => setPrefs({ theme: next })}
            />
          </Tooltip>
          <LanguageButton />
          <Tooltip content={t('login.out')} aria="none">
            <Button
              variant="plain"
              icon={<SignOutAltIcon className="mirror" />}
              aria-label={t('login.out')}
              onClick={() => void leave()}
            />
          </Tooltip>
        </span>
      </MastheadContent>
    </Masthead>
  );
  const sidebar = (
    <PageSidebar isSidebarOpen={side} {...(side ? {} : { inert: true })}>
      <PageSidebarBody>
        <Nav aria-label={t('shell.nav')}>
          {NAV.map((g) => {
            const items = g.items.filter((i) => i.perm === undefined || can(i.perm));
            return items.length === 0 ? null : (
              <NavGroup key={g.key} title={t(g.key)}>
                {items.map((i) => (
                  <NavItem key={i.to} isActive={current(i.to)} itemId={i.to}>
                    <Link to={i.to} aria-current={current(i.to) ? 'page' : undefined}>
                      {t(i.key)}
                    </Link>
                  </NavItem>
                ))}
              </NavGroup>
            );
          })}
        </Nav>
      </PageSidebarBody>
    </PageSidebar>
  );
  return (
    <Page
      masthead={masthead}
      sidebar={sidebar}
      mainContainerId="main"
      skipToContent={<SkipToContent href="#main">{t('shell.skip')}</SkipToContent>}
      isNotificationDrawerExpanded={drawer}
      notificationDrawer={<CallsDrawer close={() => setDrawer(false)} />}
      isContentFilled
    >
      {!up && <Alert isInline variant="warning" title={t('shell.downBody')} />}
      <Outlet />
      <Toasts />
      {help && <KeyHelp close={() => setHelp(false)} />}
    </Page>
  );
}
