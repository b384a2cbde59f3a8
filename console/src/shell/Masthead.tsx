// SPDX-License-Identifier: Apache-2.0
// Masthead.tsx - the head of every page: whose it is, search, what can be made, news, the calls, help, the person.
import {
  Button,
  Divider,
  Dropdown,
  DropdownGroup,
  DropdownItem,
  DropdownList,
  Label,
  Masthead as Head,
  MastheadBrand,
  MastheadContent,
  MastheadMain,
  MastheadToggle,
  MenuToggle,
  NotificationBadge,
  PageToggleButton,
  Tooltip,
} from '@patternfly/react-core';
import { CodeIcon, PlusCircleIcon, QuestionCircleIcon, SearchIcon, UserIcon } from '@patternfly/react-icons';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useLiveState } from '../api/live.ts';
import { useGet } from '../api/hooks.ts';
import { zoneLabel } from '../lib/format.ts';
import { setPrefs, usePrefs } from '../lib/prefs.ts';
import { Code, Name } from '../ui/bits.tsx';
import { inHead } from '../ui/overlay.ts';
import { createsFor } from './nav.ts';
import { LanguageButton } from './Prefs.tsx';
import { ProofChip } from './ProofChip.tsx';
import { useSession } from './session.tsx';
import { organisationOf } from '../lib/titles.ts';

const OPENS = 'Ctrl K';
export type Drawer = 'calls' | 'notices' | null;
interface Props {
  side: boolean;
  setSide: (open: boolean) => void;
  drawer: Drawer;
  setDrawer: (which: Drawer) => void;
  news: number;
  search: () => void;
  keys: () => void;
}

function Menu({
  icon,
  label,
  className,
  children,
}: {
  icon: ReactNode;
  label: string;
  className?: string;
  children: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  return (
    <Dropdown
      isOpen={open}
      onOpenChange={setOpen}
      onSelect={() => setOpen(false)}
      popperProps={{ position: 'end', appendTo: inHead }}
      toggle={(ref) => (
        <MenuToggle
          ref={ref}
          variant="plain"
          aria-label={label}
          isExpanded={open}
          onClick={() => setOpen(!open)}
          icon={icon}
          {...(className ? { className } : {})}
        />
      )}
    >
      {open && children}
    </Dropdown>
  );
}

function Connection() {
  const { t } = useTranslation();
  const state = useLiveState();
  return (
    <Tooltip content={t(`live.${state}Body`)} appendTo={inHead}>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- its tooltip is for the keyboard too */}
      <span className={`connection ${state}`} role="status" tabIndex={0}>
        <span className="dot" />
        <span className="word">{t(`live.${state}`)}</span>
      </span>
    </Tooltip>
  );
}

function Create() {
  const { t } = useTranslation();
  const { can } = useSession();
  const navigate = useNavigate();
  const items = createsFor(can);
  if (items.length === 0) return null;
  return (
    <Menu icon={<PlusCircleIcon />} label={t('shell.create')} className="create-menu">
      <DropdownList>
        {items.map((i) => (
          <DropdownItem key={i.key} onClick={() => void navigate({ to: i.to, search: (i.search ?? {}) as never })}>
            {t(i.key)}
          </DropdownItem>
        ))}
      </DropdownList>
    </Menu>
  );
}

function Help({ keys, calls }: { keys: () => void; calls: () => void }) {
  const { t } = useTranslation();
  return (
    <Menu icon={<QuestionCircleIcon />} label={t('shell.help')} className="help-menu">
      <DropdownList>
        <DropdownItem onClick={keys}>{t('keys.title')}</DropdownItem>
        <DropdownItem onClick={calls}>{t('shell.calls')}</DropdownItem>
        <DropdownItem to="/openapi.json" target="_blank" rel="noreferrer">
          {t('shell.contract')}
        </DropdownItem>
      </DropdownList>
      <Divider />
      <Version />
    </Menu>
  );
}
function Version() {
  const { t } = useTranslation();
  const version = useGet('/version');
  return (
    <p className="menu-note">
      {t('shell.version')} <Code>{version.data?.version}</Code>
    </p>
  );
}

function Account() {
  const { t } = useTranslation();
  const { me, leave } = useSession();
  const prefs = usePrefs();
  const navigate = useNavigate();
  const theme = prefs.theme === 'system' ? 'light' : prefs.theme === 'light' ? 'dark' : 'system';
  return (
    <Menu icon={<UserIcon />} label={t('shell.account')} className="account-menu">
      <div className="menu-note">
        <strong>
          <Name>{me.name}</Name>
        </strong>
        <div>
          <bdi>{me.tenant === 'platform' ? t('nav.platform') : organisationOf(me)}</bdi>{' '}
          {me.home_zone && <Code>{me.home_zone}</Code>}
        </div>
        <div className="menu-roles">
          {me.roles.map((r) => (
            <Label key={r} isCompact variant="outline">
              {t(`role.${r}`)}
            </Label>
          ))}
        </div>
      </div>
      <Divider />
      <DropdownGroup label={t('prefs.title')}>
        <DropdownList>
          <DropdownItem onClick={() => setPrefs({ theme })}>
            {t('prefs.themeNow', { theme: t(`prefs.${prefs.theme}`) })}
          </DropdownItem>
          <DropdownItem onClick={() => setPrefs({ density: prefs.density === 'compact' ? 'normal' : 'compact' })}>
            {t('prefs.densityNow', { density: t(`prefs.${prefs.density}`) })}
          </DropdownItem>
          <DropdownItem onClick={() => setPrefs({ zone: prefs.zone === 'utc' ? 'local' : 'utc' })}>
            {t('prefs.zone')}: <bdi dir="ltr">{zoneLabel()}</bdi>
          </DropdownItem>
        </DropdownList>
      </DropdownGroup>
      <Divider />
      <DropdownList>
        <DropdownItem onClick={() => void navigate({ to: '/settings' })}>{t('nav.settings')}</DropdownItem>
        <DropdownItem onClick={() => void leave()}>{t('shell.out')}</DropdownItem>
      </DropdownList>
    </Menu>
  );
}

export function Masthead({ side, setSide, drawer, setDrawer, news, search, keys }: Props) {
  const { t } = useTranslation();
  const { me } = useSession();
  const prefs = usePrefs();
  // Arabic says one and two without a digit; the name of the button holds what is seen on it all the same.
  const said = t('notices.unread', { count: news });
  const unread = said.includes(String(news)) ? said : `${news} ${said}`;
  return (
    <Head display={{ default: 'inline' }}>
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
          <bdi>{me.tenant === 'platform' ? t('nav.platform') : organisationOf(me)}</bdi>
          {me.home_zone && (
            <Label isCompact color="teal">
              <bdi dir="ltr">{me.home_zone}</bdi>
            </Label>
          )}
        </span>
        <Button
          variant="control"
          className="search-button"
          icon={<SearchIcon />}
          onClick={search}
          aria-keyshortcuts="Control+K"
        >
          <span className="word">
            {t('palette.open')} <kbd dir="ltr">{OPENS}</kbd>
          </span>
        </Button>
        <span className="tools">
          <ProofChip />
          <Connection />
          <Tooltip content={t('prefs.zone')} appendTo={inHead}>
            <Button
              variant="plain"
              className="zone-now"
              onClick={() => setPrefs({ zone: prefs.zone === 'utc' ? 'local' : 'utc' })}
            >
              <bdi dir="ltr">{zoneLabel()}</bdi>
            </Button>
          </Tooltip>
          <Create />
          <NotificationBadge
            variant={news > 0 ? 'unread' : 'read'}
            count={news}
            aria-label={news > 0 ? unread : t('notices.title')}
            isExpanded={drawer === 'notices'}
            onClick={() => setDrawer(drawer === 'notices' ? null : 'notices')}
            className="notices-button"
          />
          <Tooltip content={t('shell.calls')} aria="none" appendTo={inHead}>
            <Button
              variant="plain"
              icon={<CodeIcon />}
              aria-label={t('shell.calls')}
              aria-expanded={drawer === 'calls'}
              className="calls-button"
              onClick={() => setDrawer(drawer === 'calls' ? null : 'calls')}
            />
          </Tooltip>
          <Help keys={keys} calls={() => setDrawer('calls')} />
          <LanguageButton />
          <Account />
        </span>
      </MastheadContent>
    </Head>
  );
}
