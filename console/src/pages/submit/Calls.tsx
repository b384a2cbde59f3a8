// SPDX-License-Identifier: Apache-2.0
// Calls.tsx - the same request for a terminal: the command line, curl, and a file with the line that takes it. Each runs as it stands.
import { Button, Tab, Tabs, TabTitleText } from '@patternfly/react-core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { saveAs } from '../../lib/csv.ts';
import { cliOf, curlOf, fileOf } from '../../lib/jobcall.ts';
import type { Json } from '../../lib/jobrequest.ts';
import { toast } from '../../ui/toast.tsx';

/** array: its indexes; empty: one job. */
export function Calls({ request, array }: { request: Json; array: string }) {
  const { t } = useTranslation();
  const [tab, setTab] = useState<string | number>('cli');
  const json = JSON.stringify(request, null, 2);
  const key = useMemo(() => (json === '' ? '' : crypto.randomUUID()), [json, array]);
  const ways = [
    { id: 'cli', title: 'CLI', text: cliOf(request, array) },
    { id: 'curl', title: 'curl', text: curlOf(request, location.origin, key, array) },
    { id: 'file', title: 'JSON', text: fileOf(array) },
  ];
  return (
    <section aria-labelledby="calls-title" className="calls-part">
      <h2 id="calls-title">{t('submit.same')}</h2>
      <Tabs activeKey={tab} onSelect={(_e, k) => setTab(k)} aria-label={t('submit.same')} isSubtab>
        {ways.map((w) => (
          <Tab
            key={w.id}
            eventKey={w.id}
            title={
              <TabTitleText>
                <span translate="no">{w.title}</span>
              </TabTitleText>
            }
          >
            <pre
              className="json call-text"
              id={`call-${w.id}`}
              dir="ltr"
              translate="no"
              tabIndex={0}
              role="region"
              aria-label={w.title}
            >
              {w.text}
            </pre>
            <Button
              variant="secondary"
              size="sm"
              onClick={() => void navigator.clipboard.writeText(w.text).then(() => toast(t('act.copied'), 'info'))}
            >
              {t('act.copy')}
            </Button>
            {w.id === 'file' && (
              <>
                {' '}
                <Button variant="secondary" size="sm" onClick={() => saveAs('request.json', json, 'application/json')}>
                  {t('submit.saveJson')}
                </Button>
                <p className="lead">{t('submit.fileHelp')}</p>
              </>
            )}
          </Tab>
        ))}
      </Tabs>
    </section>
  );
}
