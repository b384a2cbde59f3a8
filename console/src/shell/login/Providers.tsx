// SPDX-License-Identifier: Apache-2.0
// Providers.tsx - the ways in through the organisation's own sign-in, before the password. The provider sends the browser back to where
// it was.
import { Button, Divider } from '@patternfly/react-core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { get, withQuery } from '../../api/client.ts';
import { Note } from '../../ui/note.tsx';
import { useProblemText } from '../../ui/states.tsx';
import './login.css';
import { keepPlace, placeToReturn } from './place.ts';

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const startAddress = (tenant: string, provider: string, to: string): string =>
  withQuery('/v1/auth/oidc/start', { tenant, provider, return_to: to });

/** Tells what is typed as the organisation once the typing rests. */
export function Watch({ value, onRest }: { value: string; onRest: (v: string) => void }) {
  useEffect(() => {
    const timer = setTimeout(() => onRest(value), 300);
    return () => clearTimeout(timer);
  }, [value, onRest]);
  return null;
}

/** before: what must have gone well before the browser is sent away. */
export function Providers({ tenant, before }: { tenant: string; before?: () => Promise<void> }) {
  const { t } = useTranslation();
  const list = useQuery({
    queryKey: ['/v1/auth/providers', tenant],
    queryFn: () => get('/v1/auth/providers', { tenant }),
    enabled: NAME.test(tenant),
    staleTime: 60_000,
    retry: false,
  });
  const found = list.data?.data ?? [];
  const [problem, setProblem] = useState<unknown>(null);
  const text = useProblemText();
  if (found.length === 0) return null;
  return (
    <div className="ways">
      {problem !== null && <Note variant="danger" title={text(problem)} />}
      {found.map((p) => (
        <Button
          key={p.name}
          isBlock
          onClick={() => {
            const to = placeToReturn();
            keepPlace(to);
            setProblem(null);
            void (before?.() ?? Promise.resolve()).then(
              () => location.assign(startAddress(tenant, p.name!, to)),
              setProblem,
            );
          }}
        >
          {t('login.through')} <bdi dir="auto">{p.name}</bdi>
        </Button>
      ))}
      <div className="or">
        <Divider />
        <span>{t('login.or')}</span>
        <Divider />
      </div>
    </div>
  );
}
