// SPDX-License-Identifier: Apache-2.0
// Enrol.tsx - setting up an authenticator: a picture to scan or a secret to type, a first code, the recovery codes, shown once.
import {
  Button,
  ClipboardCopy,
  Content,
  ExpandableSection,
  Modal,
  ModalBody,
  ModalHeader,
} from '@patternfly/react-core';

import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, setCsrf, type Schemas } from '../../api/client.ts';
import { saveAs } from '../../lib/csv.ts';
import { Note } from '../../ui/note.tsx';
import { ApiForm } from '../../ui/form.tsx';
import { Failure } from '../../ui/states.tsx';
import './login.css';
import { Qr } from './Qr.tsx';

function Recovery({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  const { t } = useTranslation();
  const text = codes.join('\n');
  return (
    <Modal isOpen variant="medium" onClose={onClose} aria-labelledby="once-title">
      <ModalHeader title={t('login.recovery')} labelId="once-title" description={t('login.recoveryBody')} />
      <ModalBody>
        <Note variant="warning" title={t('confirm.once')} />
        <ol className="recovery" dir="ltr" translate="no">
          {codes.map((c) => (
            <li key={c}>
              <code>{c}</code>
            </li>
          ))}
        </ol>
        <div className="recovery-acts">
          <ClipboardCopy
            isReadOnly
            hoverTip={t('act.copy')}
            clickTip={t('act.copied')}
            textAriaLabel={t('login.recovery')}
            dir="ltr"
          >
            {codes.join(' ')}
          </ClipboardCopy>
          <Button
            variant="secondary"
            onClick={() => saveAs('falaj-recovery-codes.txt', `${text}\n`, 'text/plain;charset=utf-8')}
          >
            {t('act.download')}
          </Button>
          <Button onClick={onClose}>{t('confirm.kept')}</Button>
        </div>
      </ModalBody>
    </Modal>
  );
}

export function Enrol({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation();
  const [secret, setSecret] = useState<Schemas['totp_begin_out'] | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const begin = (): void => {
    setProblem(null);
    change('POST', '/v1/auth/mfa/totp').then(setSecret, setProblem);
  };
  if (!secret)
    return (
      <>
        <Content component="p">{t('login.enrolBody')}</Content>
        {problem !== null && <Failure problem={problem} />}
        <Button onClick={begin}>{t('login.enrol')}</Button>
      </>
    );
  return (
    <div className="enrol">
      <Content component="p">{t('login.scan')}</Content>
      <Qr text={secret.otpauth_uri ?? ''} label={t('login.qr')} />
      <ExpandableSection toggleText={t('login.cannotScan')}>
        <Content component="p">{t('login.secret')}</Content>
        <ClipboardCopy
          isReadOnly
          textAriaLabel={t('login.secretLabel')}
          hoverTip={t('act.copy')}
          clickTip={t('act.copied')}
          dir="ltr"
        >
          {secret.secret ?? ''}
        </ClipboardCopy>
        <p>
          <a className="to" href={secret.otpauth_uri}>
            {t('login.openApp')}
          </a>
        </p>
      </ExpandableSection>
      <ApiForm
        submit={t('login.confirm')}
        fields={[
          {
            name: 'code',
            label: t('login.code'),
            kind: 'code',
            required: true,
            autoComplete: 'one-time-code',
            help: t('login.firstCode'),
          },
        ]}
        onSubmit={async (v) => {
          const out = await change('POST', '/v1/auth/mfa/totp/confirm', v);
          if (out.csrf_token) setCsrf(out.csrf_token);
          setCodes(out.recovery_codes);
        }}
      />
      {codes && <Recovery codes={codes} onClose={onDone} />}
    </div>
  );
}
