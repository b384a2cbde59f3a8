// SPDX-License-Identifier: Apache-2.0
// frame.tsx - the pages of the audit log side by side: what each is, and who may see it.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useSession } from '../../shell/session.tsx';
import { Page } from '../../ui/page.tsx';
import './audit.css';

const PARTS: [to: string, key: string, perm: string][] = [
  ['/audit', 'audit.events', 'audit:read'],
  ['/audit/verify', 'audit.verify', 'audit:read'],
  ['/audit/proof', 'audit.proof', 'audit:read'],
  ['/audit/passports', 'audit.passports', 'audit:read'],
  ['/audit/exports', 'audit.exports', 'audit:export'],
  ['/audit/heads', 'audit.heads', 'audit:read'],
  ['/audit/holds', 'audit.holds', 'audit:hold'],
  ['/audit/legal-clocks', 'audit.legalClocks', 'clock:read'],
  ['/audit/retention', 'audit.retention', 'audit:read'],
  ['/audit/erasures', 'audit.erasures', 'person:erase'],
];

export function Frame(p: {
  part: string;
  lead: ReactNode;
  api: string[];
  cli: string[];
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const { can, me } = useSession();
  const title = p.part === 'audit.events' ? t('nav.audit') : t(p.part);
  return (
    <Page
      name={title}
      title={title}
      lead={p.lead}
      api={p.api}
      cli={p.cli}
      {...(p.actions ? { actions: p.actions } : {})}
      {...(p.part === 'audit.events' ? {} : { crumbs: [[t('nav.audit'), '/audit']] as [string, string][] })}
    >
      <nav className="parts" aria-label={t('audit.parts')}>
        {PARTS.filter(([to, , perm]) => can(perm) && (me.tenant_id || to !== '/audit/passports')).map(([to, key]) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: true, includeSearch: false }}
            activeProps={{ className: 'here' }}
          >
            {t(key)}
          </Link>
        ))}
      </nav>
      {p.children}
    </Page>
  );
}
