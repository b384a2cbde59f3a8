// SPDX-License-Identifier: Apache-2.0
// toast.tsx - short words on what has just happened; read out by screen readers, gone after eight seconds.
import { AlertActionCloseButton, AlertGroup } from '@patternfly/react-core';
import { useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { Alert } from './alert.tsx';

interface Toast {
  id: number;
  text: string;
  kind: 'success' | 'danger' | 'info';
}
let all: Toast[] = [];
let last = 0;
const watchers = new Set<() => void>();
const put = (next: Toast[]): void => {
  all = next;
  for (const f of watchers) f();
};
export function toast(text: string, kind: Toast['kind'] = 'success'): void {
  const id = ++last;
  put([...all.slice(-3), { id, text, kind }]);
  setTimeout(() => put(all.filter((x) => x.id !== id)), 8000);
}
export function Toasts() {
  const { t } = useTranslation();
  const list = useSyncExternalStore(
    (f) => {
      watchers.add(f);
      return () => void watchers.delete(f);
    },
    () => all,
  );
  return (
    <AlertGroup isToast isLiveRegion aria-label={t('shell.notices')}>
      {list.map((x) => (
        <Alert
          key={x.id}
          variant={x.kind}
          title={x.text}
          actionClose={
            <AlertActionCloseButton aria-label={t('act.close')} onClose={() => put(all.filter((y) => y.id !== x.id))} />
          }
        />
      ))}
    </AlertGroup>
  );
}
