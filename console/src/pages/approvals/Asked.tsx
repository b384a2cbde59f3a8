// SPDX-License-Identifier: Apache-2.0
// Asked.tsx - exactly what a request asks for; beside what there is now, where it replaces something.
import { Button, Modal, ModalBody, ModalHeader } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { changes, PARTS, replacedBy } from '../../lib/asked.ts';
import { Json, Name } from '../../ui/bits.tsx';
import { DiffTable } from '../../ui/diff.tsx';
import { Answer } from '../../ui/states.tsx';

type Approval = Schemas['approval'];

function Changes({
  kind,
  path,
  asked,
}: {
  kind: string;
  path: NonNullable<ReturnType<typeof replacedBy>>['path'];
  asked: Record<string, unknown>;
}) {
  const { t } = useTranslation();
  const now = useGet(path);
  return (
    <Answer of={now}>
      {(state) => (
        <DiffTable
          label={t('approvals.changes')}
          rows={changes(state, asked, PARTS[kind] ?? [])}
          heads={[t('approvals.now'), t('approvals.asked')]}
          keys={['now', 'asked']}
        />
      )}
    </Answer>
  );
}

/** Once it is carried out or refused there is no "now" to compare with. */
export function Exactly({ of: a }: { of: Approval }) {
  const { t } = useTranslation();
  const replaced = a.state === 'PENDING' ? replacedBy(a.kind, a.payload, a.subject_id) : null;
  return (
    <>
      {replaced && <Changes kind={a.kind!} path={replaced.path} asked={replaced.asked} />}
      <Json value={a.payload} label={t('approvals.exact')} />
    </>
  );
}

export function Asked({ of: a, title }: { of: Approval; title: string }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button variant="link" isInline onClick={() => setOpen(true)}>
        {t('approvals.exact')}
      </Button>
      {open && (
        <Modal isOpen variant="medium" onClose={() => setOpen(false)} aria-labelledby="asked-title">
          <ModalHeader title={title} labelId="asked-title" description={<Name>{a.subject}</Name>} />
          <ModalBody>
            <Exactly of={a} />
          </ModalBody>
        </Modal>
      )}
    </>
  );
}
