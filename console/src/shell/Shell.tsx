// SPDX-License-Identifier: Apache-2.0
// Shell.tsx - what stands around every page: masthead, navigation, drawers, palette, keys, the state of the connection.
import { Nav, NavGroup, NavItem, Page, PageSidebar, PageSidebarBody, SkipToContent } from '@patternfly/react-core';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { Alert } from '../ui/alert.tsx';
import { isUp, watchConnection } from '../api/client.ts';
import { withWords } from '../i18n.ts';
import { usePrefs } from '../lib/prefs.ts';
import { unread } from '../lib/notices.ts';
import { Toasts } from '../ui/toast.tsx';
import { useKeys } from './keys.ts';
import { Masthead, type Drawer } from './Masthead.tsx';
import { groupsFor } from './nav.ts';
import { useSession } from './session.tsx';
import './shell.css';
import { useNotices } from './useNotices.ts';

const readDrawers = withWords(['approvals'], () => import('./Drawers.tsx'));
const CallsDrawer = lazy(() => readDrawers().then((m) => ({ default: m.CallsDrawer })));
const NoticesDrawer = lazy(() => readDrawers().then((m) => ({ default: m.NoticesDrawer })));
const readPalette = () => import('./Palette.tsx');
const Palette = lazy(readPalette);
const KeyHelp = lazy(() => import('./KeyHelp.tsx'));

function Side({ open }: { open: boolean }) {
  const { t } = useTranslation();
  const { can, me } = useSession();
  const { pathname } = useLocation();
  const current = (to: string): boolean =>
    to === '/' ? pathname === '/' : pathname === to || pathname.startsWith(`${to}/`);
  return (
    <PageSidebar isSidebarOpen={open} {...(open ? {} : { inert: true })}>
      <PageSidebarBody>
        <Nav aria-label={t('shell.nav')}>
          {groupsFor({ can, me }).map((g) => (
            <NavGroup key={g.key} title={t(g.key)}>
              {g.items.map((i) => (
                <NavItem key={i.to} isActive={current(i.to)} itemId={i.to}>
                  <Link to={i.to} aria-current={current(i.to) ? 'page' : undefined}>
                    {t(i.key)}
                  </Link>
                </NavItem>
              ))}
            </NavGroup>
          ))}
        </Nav>
      </PageSidebarBody>
    </PageSidebar>
  );
}

const WIDE = '(min-width: 1200px)';
const wide = (): boolean => window.matchMedia(WIDE).matches;

export function Shell() {
  const { t } = useTranslation();
  const up = useSyncExternalStore(watchConnection, isUp);
  usePrefs();
  const { pathname } = useLocation();
  const [drawer, setDrawer] = useState<Drawer>(null);
  const [over, setOver] = useState<'keys' | 'palette' | null>(null);
  const [side, setSide] = useState(wide);
  const notices = useNotices();
  useEffect(() => {
    const width = window.matchMedia(WIDE);
    const on = (): void => setSide(width.matches);
    width.addEventListener('change', on);
    return () => width.removeEventListener('change', on);
  }, []);
  const palette = useCallback(() => setOver('palette'), []);
  const keys = useCallback(() => setOver('keys'), []);
  useKeys(keys, palette);
  useEffect(() => {
    const on = (e: KeyboardEvent): void => {
      if ((e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey && e.key.toLowerCase() === 'k') {
        e.preventDefault();
        if (document.querySelector('[role=dialog]') === null) palette();
      } else if (e.key === 'Escape' && document.querySelector('[role=dialog],[role=menu]') === null) setDrawer(null);
    };
    addEventListener('keydown', on);
    return () => removeEventListener('keydown', on);
  }, [palette]);
  // Read before it is asked for: who opens it types at once.
  useEffect(() => {
    const timer = setTimeout(() => void readPalette(), 1500);
    return () => clearTimeout(timer);
  }, []);
  const was = useRef(pathname);
  useEffect(() => {
    if (was.current === pathname) return;
    was.current = pathname;
    if (!wide()) setSide(false);
    document.getElementById('page-title')?.focus({ preventScroll: true });
  }, [pathname]);
  const shut = useCallback(() => setDrawer(null), []);
  return (
    <Page
      masthead={
        <Masthead
          side={side}
          setSide={setSide}
          drawer={drawer}
          setDrawer={setDrawer}
          news={unread(notices.list)}
          search={palette}
          keys={keys}
        />
      }
      sidebar={<Side open={side} />}
      mainContainerId="main"
      skipToContent={<SkipToContent href="#main">{t('shell.skip')}</SkipToContent>}
      isNotificationDrawerExpanded={drawer !== null}
      notificationDrawer={
        <Suspense fallback={null}>
          {drawer === 'notices' ? (
            <NoticesDrawer {...notices} close={shut} />
          ) : drawer === 'calls' ? (
            <CallsDrawer close={shut} />
          ) : null}
        </Suspense>
      }
      isContentFilled
    >
      {!up && <Alert isInline variant="warning" title={t('shell.downBody')} />}
      <Outlet />
      <Toasts />
      <Suspense fallback={null}>
        {over === 'keys' && <KeyHelp close={() => setOver(null)} />}
        {over === 'palette' && <Palette close={() => setOver(null)} help={keys} calls={() => setDrawer('calls')} />}
      </Suspense>
    </Page>
  );
}
