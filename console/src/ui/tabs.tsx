// SPDX-License-Identifier: Apache-2.0
// tabs.tsx - the parts of a page under one heading each; the address says which one is shown, and its filters go with it.
import { Tab, Tabs, TabTitleText } from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { afterPaint } from '../lib/afterpaint.ts';
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
  const tab = useTab(parts);
  // The tab answers the click at once and by itself; the address, which the whole page reads, and what is under it follow.
  const [now, pick] = useState(tab);
  const drawn = useDeferredValue(now);
  const turn = useRef((): void => undefined);
  useEffect(() => pick(tab), [tab]);
  useEffect(() => () => turn.current(), []);
  const choose = (part: string): void => {
    pick(part);
    turn.current();
    turn.current = afterPaint(() => void navigate({ to: '.', search: { tab: part } as never }));
  };
  return (
    <Tabs
      activeKey={now}
      onSelect={(_e, key) => choose(String(key))}
      aria-label={label}
      mountOnEnter
      unmountOnExit
      leftScrollAriaLabel={t('act.before')}
      rightScrollAriaLabel={t('act.after')}
    >
      {parts.map((p) => (
        <Tab key={p.id} eventKey={p.id} title={<TabTitleText>{p.title}</TabTitleText>}>
          <div className="block">{p.id === now && p.id === tab && p.id === drawn && p.body()}</div>
        </Tab>
      ))}
    </Tabs>
  );
}
