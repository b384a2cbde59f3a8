// SPDX-License-Identifier: Apache-2.0
// unsaved.tsx - whoever leaves a half filled form is asked first: by a link, by closing the window, by closing a dialog.
import { Button, Modal, ModalBody, ModalFooter, ModalHeader } from '@patternfly/react-core';
import { useBlocker } from '@tanstack/react-router';
import type { RefObject } from 'react';
import { useTranslation } from 'react-i18next';

export function AskToLeave({ stay, leave }: { stay: () => void; leave: () => void }) {
  const { t } = useTranslation();
  return (
    <Modal isOpen variant="small" onClose={stay} aria-labelledby="unsaved-title" className="unsaved">
      <ModalHeader title={t('unsaved.title')} labelId="unsaved-title" titleIconVariant="warning" />
      <ModalBody>{t('unsaved.body')}</ModalBody>
      <ModalFooter>
        <Button onClick={stay}>{t('unsaved.stay')}</Button>
        <Button variant="secondary" isDanger onClick={leave}>
          {t('unsaved.leave')}
        </Button>
      </ModalFooter>
    </Modal>
  );
}

/** Only within the router. Another filter or tab of the same page is no leaving. */
export function Unsaved({ dirty }: { dirty: RefObject<boolean> }) {
  const blocked = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty.current && current.pathname !== next.pathname,
    enableBeforeUnload: () => dirty.current,
    withResolver: true,
  });
  return blocked.status === 'blocked' ? <AskToLeave stay={blocked.reset} leave={blocked.proceed} /> : null;
}
