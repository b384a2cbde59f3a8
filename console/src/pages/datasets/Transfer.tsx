// SPDX-License-Identifier: Apache-2.0
// Transfer.tsx - a copy of a version in another zone: what residency says of each zone stands there before anybody asks for it.
import { Button, Modal, ModalBody, ModalHeader } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { ApiForm, SLUG, formFields } from '../../ui/form.tsx';
import { Code } from '../../ui/bits.tsx';
import { toast } from '../../ui/toast.tsx';
import { usePlaces } from '../submit/places.ts';

export function Transfer({ of, version }: { of: Schemas['dataset']; version: Schemas['dataset_version'] }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button variant="link" isInline onClick={() => setOpen(true)}>
        {t('datasets.transfer')}
      </Button>
      {open && <TransferDialog of={of} version={version} close={() => setOpen(false)} />}
    </>
  );
}

function TransferDialog({
  of,
  version,
  close,
}: {
  of: Schemas['dataset'];
  version: Schemas['dataset_version'];
  close: () => void;
}) {
  const { t, i18n } = useTranslation();
  const forget = useForget();
  const { verdicts } = usePlaces(of.data_class!, version.zone, 'transfer');
  const others = verdicts.filter((v) => v.zone !== version.zone);
  const good = others.filter((v) => v.allowed);
  const fields = formFields(
    {
      name: 'to_zone',
      label: t('datasets.toZone'),
      kind: 'select',
      required: true,
      options: good.map((v) => ({ value: v.zone, label: v.zone })),
    },
    { name: 'purpose', label: t('datasets.purpose'), pattern: SLUG, help: t('datasets.purposeHelp') },
  );
  return (
    <Modal isOpen variant="small" onClose={close} aria-labelledby="transfer-title">
      <ModalHeader
        title={t('datasets.transferTitle')}
        labelId="transfer-title"
        description={
          <>
            {t('datasets.transferBody')} <Code>{version.zone}</Code>
          </>
        }
      />
      <ModalBody>
        {others.some((v) => !v.allowed) && (
          <div className="zone-why">
            <p>{t('submit.zonesNot')}</p>
            <ul>
              {others
                .filter((v) => !v.allowed)
                .map((v) => (
                  <li key={v.zone}>
                    <Code>{v.zone}</Code> · {i18n.exists(`submit.r_${v.rule}`) ? t(`submit.r_${v.rule}`) : ''}{' '}
                    <bdi lang="en" dir="ltr" className="lead">
                      {v.text}
                    </bdi>
                  </li>
                ))}
            </ul>
          </div>
        )}
        {good.length === 0 ? (
          <>
            <p>{t('datasets.transferNone')}</p>
            <Button variant="link" onClick={close}>
              {t('act.close')}
            </Button>
          </>
        ) : (
          <ApiForm
            key={good.length}
            fields={fields}
            submit={t('datasets.transfer')}
            onCancel={close}
            onSubmit={async (v) => {
              const path = `/v1/datasets/${of.dataset_id!}/versions/${version.version}/transfer` as const;
              await change('POST', path, {
                to_zone: v['to_zone'],
                ...(v['purpose'] ? { purpose: v['purpose'] } : {}),
              });
              await forget('/v1/datasets');
              toast(t('datasets.transferred'));
              close();
            }}
          />
        )}
      </ModalBody>
    </Modal>
  );
}
