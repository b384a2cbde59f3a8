// SPDX-License-Identifier: Apache-2.0
// keys.ts - single keys: pages after "g", rows of the list at hand, parts of a page. Nothing can be done by them alone, and they can be
// switched off.
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { step } from '../lib/lists.ts';
import { usePrefs } from '../lib/prefs.ts';
import { itemsFor } from './nav.ts';
import { useSession } from './session.tsx';

const TYPING = 'input:not([type=checkbox]),textarea,select,[role=dialog],[role=menu],[contenteditable]';

/** The list that has the focus, or the first one of the page. */
function listAt(at: Element): Element | null {
  return at.closest('[data-list]') ?? document.querySelector('#main [data-list]');
}
function moveRow(at: Element, by: 1 | -1): boolean {
  const rows = [...(listAt(at)?.querySelectorAll<HTMLElement>('tr[data-row]') ?? [])];
  const row = rows[step(rows.length, rows.indexOf(at.closest('tr[data-row]') as HTMLElement), by)];
  row?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: 'nearest' });
  return row !== undefined;
}
function moveTab(by: 1 | -1): boolean {
  const tabs = [...document.querySelectorAll<HTMLElement>('#main [role=tablist] [role=tab]:not([aria-disabled=true])')];
  const at = tabs.findIndex((x) => x.getAttribute('aria-selected') === 'true');
  const to = tabs[step(tabs.length, at, by)];
  to?.click();
  return to !== undefined;
}
function inRow(at: Element, what: string): boolean {
  const found = at.closest('tr[data-row]')?.querySelector<HTMLElement>(what);
  found?.click();
  return found !== null && found !== undefined;
}
/** One key on what has the focus; whether it did anything. */
export function listKey(key: string, at: Element): boolean {
  if (key === 'j') return moveRow(at, 1);
  if (key === 'k') return moveRow(at, -1);
  if (key === 'x') return inRow(at, 'input[type=checkbox]');
  if (key === 'Enter') return at.matches('tr[data-row]') && inRow(at, 'a[href]');
  if (key === '[') return moveTab(-1);
  if (key === ']') return moveTab(1);
  return false;
}

export function useKeys(help: () => void, search: () => void): void {
  const { can, me } = useSession();
  const { keys } = usePrefs();
  const navigate = useNavigate();
  const before = useRef('');
  useEffect(() => {
    const on = (e: KeyboardEvent): void => {
      const at = e.target instanceof Element ? e.target : document.body;
      if (keys === 'off' || e.ctrlKey || e.metaKey || e.altKey || at.closest(TYPING)) return;
      const item = before.current === 'g' ? itemsFor({ can, me }).find((i) => i.letter === e.key) : undefined;
      before.current = e.key;
      if (item) {
        before.current = '';
        void navigate({ to: item.to });
      } else if (e.key === '?') help();
      else if (e.key === '/') {
        e.preventDefault();
        const box = document.querySelector<HTMLInputElement>('#main .list-tools input[type=text]');
        if (box) box.focus();
        else search();
      } else if (e.key === 'c' && can('job:submit')) void navigate({ to: '/jobs/new' });
      else if (listKey(e.key, at)) e.preventDefault();
    };
    addEventListener('keydown', on);
    return () => removeEventListener('keydown', on);
  }, [can, me, help, search, keys, navigate]);
}
