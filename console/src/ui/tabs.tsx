// SPDX-License-Identifier: Apache-2.0
// tabs.tsx - the parts of a page under one heading each; the address says which one is shown, and its filters go with it.
import { Tab, Tabs, TabTitleText } from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useDeferredValue, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Search } from '../lib/search.ts';

export interface Part {
  id: string;
  title: string;
  body: () => ReactNode;
}

export function useTab(parts: readonly Part[]): string {
  const wanted = (useSearch({ strict: false }) as Search)['tab'];
  return parts.find((p) => p.id === wanted)?.id ?? parts[0]?.id ?? '';
}
export function PageTabs({ parts, label }: { parts: readonly Part[]; label: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const now = useTab(parts);
  // The tab answers the click at once; what is under it follows.
  const drawn = useDeferredValue(now);
  return (
    <Tabs
      activeKey={now}
      onSelect={(_e, key) => void navigate({ to: '.', search: { tab: String(key) } as never })}
      aria-label={label}
      mountOnEnter
      unmountOnExit
      leftScrollAriaLabel={t('act.before')}
      rightScrollAriaLabel={t('act.after')}
    >
      {parts.map((p) => (
        <Tab key={p.id} eventKey={p.id} title={<TabTitleText>{p.title}</TabTitleText>}>
          <div className="block">{p.id === now && p.id === drawn && p.body()}</div>
        </Tab>
      ))}
    </Tabs>
  );
}
