// SPDX-License-Identifier: Apache-2.0
// Import.tsx - bringing an own key: the zone's public point, the steps on one's own machine, and the sealed key that comes back.
import { Button, Modal, ModalBody, ModalHeader } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { useSession } from '../../shell/session.tsx';
import { ApiForm, formFields } from '../../ui/form.tsx';
import { Answer } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { Line } from '../audit/pieces.tsx';

const POINT = /^[A-Za-z0-9+/]{86,87}=?=?$/;
const SEALED = /^[A-Za-z0-9+/]{80}$/;

export function ImportKey({ zone, path }: { zone: string; path: `/v1/keys/${string}` }) {
  const { t } = useTranslation();
  const { me } = useSession();
  const forget = useForget();
  const [open, setOpen] = useState(false);
  const point = useGet(`${path}/import-key`, {}, { enabled: open });
  const fields = formFields(
    { name: 'ephemeral_public', label: t('keyring.ephemeral'), required: true, pattern: POINT },
    { name: 'sealed_key', label: t('keyring.sealed'), required: true, pattern: SEALED },
  );
  return (
    <>
      <Button variant="secondary" onClick={() => setOpen(true)}>
        {t('keyring.import')}
      </Button>
      {open && (
        <Modal isOpen variant="medium" onClose={() => setOpen(false)} aria-labelledby="import-title">
          <ModalHeader title={t('keyring.import')} labelId="import-title" description={t('keyring.importBody')} />
          <ModalBody>
            <Answer of={point}>
              {(p) => (
                <ol className="steps">
                  <li>
                    {t('keyring.import1')}
                    <Line label={t('keyring.point')}>{p.import_point ?? ''}</Line>
                  </li>
                  <li>
                    {t('keyring.import2')}
                    <Line label={t('keyring.import2')}>{`falaj key import-key ${zone}`}</Line>
                  </li>
                  <li>
                    {t('keyring.import3')}
                    <div className="tenant-bytes">
                      {t('keyring.importTenant')}
                      <Line label={t('keyring.importTenant')}>{(me.tenant_id ?? '').replace(/^tnt_/, '')}</Line>
                    </div>
                  </li>
                  <li>
                    {t('keyring.import4')}
                    <Line label={t('keyring.import4')}>{`falaj key import ${zone} POINT SEALED`}</Line>
                  </li>
                </ol>
              )}
            </Answer>
            <ApiForm
              fields={fields}
              submit={t('keyring.import')}
              onCancel={() => setOpen(false)}
              onSubmit={async (v) => {
                await change('POST', `${path}/import`, v);
                toast(t('keyring.imported'));
                setOpen(false);
                await forget('/v1/keys');
              }}
            />
          </ModalBody>
        </Modal>
      )}
    </>
  );
}
