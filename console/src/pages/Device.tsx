// SPDX-License-Identifier: Apache-2.0
// Device.tsx - a program without a browser asks to be let in: which one, from where; yes or no. `falaj login` prints this address.
import { Button, Card, CardBody, Content, Flex } from '@patternfly/react-core';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, get, type Schemas } from '../api/client.ts';
import type { Search } from '../lib/search.ts';
import { useSession } from '../shell/session.tsx';
import { Code, Name, Pairs, State } from '../ui/bits.tsx';
import { Note } from '../ui/note.tsx';
import { ApiForm } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import '../shell/login/login.css';
import { useProblemText } from '../ui/states.tsx';

/** Letters that are taken for no other; what stands between them does not count. */
const CODE = /^[BCDFGHJKLMNPQRSTVWXZ -]{8,16}$/i;
type Look = Schemas['device_look_out'];

function Decide({ code, look, onDone }: { code: string; look: Look; onDone: (l: Look) => void }) {
  const { t } = useTranslation();
  const { me } = useSession();
  const text = useProblemText();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const decide = (approve: boolean): void => {
    setBusy(true);
    setProblem(null);
    change('POST', '/v1/auth/device/approve', { user_code: code, approve })
      .then(onDone, setProblem)
      .finally(() => setBusy(false));
  };
  return (
    <>
      <Pairs
        rows={[
          [t('device.client'), <Name key="c">{look.client}</Name>],
          [t('device.from'), <Code key="i">{look.ip}</Code>],
          [t('device.as'), <Name key="n">{me.name}</Name>],
          [t('device.code'), <Code key="k">{code}</Code>],
          [t('col.state'), <State key="s" value={look.state} />],
        ]}
      />
      {look.state === 'PENDING' ? (
        <>
          <Note variant="warning" title={t('device.care')} className="block">
            {t('device.careBody')}
          </Note>
          {problem !== null && <Note variant="danger" title={text(problem)} className="block" />}
          <Flex>
            <Button isDisabled={busy} onClick={() => decide(true)}>
              {t('device.approve')}
            </Button>
            <Button variant="secondary" isDanger isDisabled={busy} onClick={() => decide(false)}>
              {t('device.deny')}
            </Button>
          </Flex>
        </>
      ) : (
        <Note
          variant={look.state === 'APPROVED' ? 'success' : 'info'}
          title={look.state === 'APPROVED' ? t('device.approved') : t('device.denied')}
          className="block"
        />
      )}
    </>
  );
}

export function Device() {
  const { t } = useTranslation();
  const search = useSearch({ strict: false }) as Search;
  const [code, setCode] = useState('');
  const [look, setLook] = useState<Look | null>(null);
  return (
    <Page
      name={t('device.title')}
      title={t('device.title')}
      lead={t('device.lead')}
      api={['GET /v1/auth/device?user_code=CODE', 'POST /v1/auth/device/approve']}
      cli={['falaj login']}
    >
      <Card className="narrow-card">
        <CardBody>
          {look ? (
            <Decide code={code} look={look} onDone={setLook} />
          ) : (
            <>
              <Content component="p">{t('device.enter')}</Content>
              <ApiForm
                casual
                submit={t('device.look')}
                initial={{ user_code: search['user_code'] ?? '' }}
                fields={[{ name: 'user_code', label: t('device.code'), required: true, max: 32, pattern: CODE }]}
                onSubmit={async (v) => {
                  const typed = String(v['user_code']).trim().toUpperCase();
                  setLook(await get('/v1/auth/device', { user_code: typed }));
                  setCode(typed);
                }}
              />
            </>
          )}
        </CardBody>
      </Card>
    </Page>
  );
}
