// SPDX-License-Identifier: Apache-2.0
// main.tsx - the start: choices, words, then the page.
import '@patternfly/react-core/dist/styles/base.css';
import '@fontsource/ibm-plex-sans-arabic/arabic-400.css';
import '@fontsource/ibm-plex-sans-arabic/arabic-600.css';
import './style.css';
import './print.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Problem } from './api/problem.ts';
import { startI18n } from './i18n.ts';
import { applyPrefs } from './lib/prefs.ts';
import { router } from './router.tsx';
import { SessionGate } from './shell/session.tsx';
import { keepShell } from './shell/worker.ts';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      staleTime: 2000,
      // An answer is shown at once, whatever it says. Only a call that got none is tried again, once and soon: a connection that
      // a proxy closed. What waits is asked again by the page that shows it (states.tsx).
      retry: (n, error) => error instanceof Problem && error.status === 0 && n < 1,
      retryDelay: 300,
    },
    mutations: { networkMode: 'always' },
  },
});

applyPrefs();
keepShell();
void startI18n().then(() =>
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <SessionGate>
          <RouterProvider router={router} />
        </SessionGate>
      </QueryClientProvider>
    </StrictMode>,
  ),
);
