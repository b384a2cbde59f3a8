// SPDX-License-Identifier: Apache-2.0
// Again.tsx - over an open page: the login again after the session's end, or a fresh proof before an act that asks for one.
import { Modal, ModalBody, ModalHeader } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { change, setCsrf } from '../api/client.ts';
import { ApiForm, formFields } from '../ui/form.tsx';
import { Login } from './Login.tsx';
import type { Me } from './session.tsx';

interface Props {
  question: 'login' | 'proof';
  me: Me;
  settle: (ok: boolean) => void;
}
export default function Again({ question, me, settle }: Props) {
  const { t } = useTranslation();
  const proof = formFields(
    { name: 'code', label: t('login.code'), kind: 'code', help: t('login.codeOr'), autoComplete: 'one-time-code' },
    { name: 'password', label: t('login.password'), kind: 'password', autoComplete: 'current-password' },
  );
  return (
    <Modal isOpen variant="small" onClose={() => settle(false)} aria-labelledby="again-title">
      <ModalHeader
        labelId="again-title"
        title={question === 'login' ? t('login.over') : t('login.proof')}
        description={question === 'login' ? t('login.overBody') : t('login.proofBody')}
      />
      <ModalBody>
        {question === 'login' ? (
          <Login
            within
            tenant={me.tenant ?? ''}
            name={me.name ?? ''}
            onDone={(s) => {
              // Somebody else is somebody else: nothing of the page before may stay.
              if (s.user_id !== me.user_id) return location.assign('/');
              setCsrf(s.csrf_token ?? '');
              return settle(true);
            }}
          />
        ) : (
          <ApiForm
            fields={proof}
            submit={t('login.prove')}
            onCancel={() => settle(false)}
            onSubmit={async (v) => {
              const s = await change(
                'POST',
                '/v1/auth/step-up',
                v['code'] ? { code: v['code'] } : { password: v['password'] },
              );
              setCsrf(s.csrf_token ?? '');
              settle(true);
            }}
          />
        )}
      </ModalBody>
    </Modal>
  );
}
