// SPDX-License-Identifier: Apache-2.0
// page.tsx - the frame of a page: its one heading, the way to it, its acts, and the calls that show the same by API and CLI.
import { Breadcrumb, BreadcrumbItem, Button, Content, Flex, FlexItem, PageSection } from '@patternfly/react-core';
import { LinkIcon } from '@patternfly/react-icons';
import { Link } from '@tanstack/react-router';
import { useEffect, useSyncExternalStore, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { PrintHead } from './printhead.tsx';
import { toast } from './toast.tsx';

export interface Calls {
  api: string[];
  cli: string[];
}
let calls: Calls = { api: [], cli: [] };
const watchers = new Set<() => void>();
export const useCalls = (): Calls =>
  useSyncExternalStore(
    (f) => {
      watchers.add(f);
      return () => void watchers.delete(f);
    },
    () => calls,
  );

interface Props {
  title: ReactNode;
  name: string;
  crumbs?: [label: string, to: string][];
  lead?: ReactNode;
  actions?: ReactNode;
  api: string[];
  cli: string[];
  children: ReactNode;
}

/** name: the heading as plain text, for the window's title. */
export function Page({ title, name, crumbs, lead, actions, api, cli, children }: Props) {
  const { t } = useTranslation();
  const text = JSON.stringify([api, cli]);
  useEffect(() => {
    const [a, c] = JSON.parse(text) as [string[], string[]];
    calls = { api: a, cli: c };
    for (const f of watchers) f();
  }, [text]);
  useEffect(() => void (document.title = `${name} · ${t('shell.product')}`), [name, t]);
  return (
    <>
      <PrintHead />
      <PageSection className="page-head">
        {crumbs && (
          <Breadcrumb aria-label={t('shell.crumbs')} ouiaSafe={false}>
            {crumbs.map(([label, to]) => (
              <BreadcrumbItem
                key={to}
                render={({ className, ariaCurrent }) => (
                  <Link to={to} className={className} aria-current={ariaCurrent}>
                    {label}
                  </Link>
                )}
              />
            ))}
            <BreadcrumbItem isActive>
              <bdi>{name}</bdi>
            </BreadcrumbItem>
          </Breadcrumb>
        )}
        <Flex
          justifyContent={{ default: 'justifyContentSpaceBetween' }}
          alignItems={{ default: 'alignItemsCenter' }}
          flexWrap={{ default: 'wrap', lg: 'nowrap' }}
        >
          <FlexItem>
            <Content component="h1" id="page-title" tabIndex={-1}>
              {title}
            </Content>
            {lead && <div className="lead">{lead}</div>}
          </FlexItem>
          <FlexItem className="page-acts">
            <Flex gap={{ default: 'gapSm' }} alignItems={{ default: 'alignItemsCenter' }}>
              <Button
                variant="plain"
                icon={<LinkIcon />}
                aria-label={t('act.copyLink')}
                title={t('act.copyLink')}
                className="copy-link"
                onClick={() =>
                  void navigator.clipboard.writeText(location.href).then(
                    () => toast(t('act.linkCopied')),
                    () => toast(t('act.notCopied'), 'danger'),
                  )
                }
              />
              {actions}
            </Flex>
          </FlexItem>
        </Flex>
      </PageSection>
      <PageSection isFilled>{children}</PageSection>
    </>
  );
}
