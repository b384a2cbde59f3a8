// SPDX-License-Identifier: Apache-2.0
// KeyHelp.tsx - the keys there are, for this person.
import { Modal, ModalBody, ModalHeader } from '@patternfly/react-core';
import { Table, Tbody, Td, Tr } from '@patternfly/react-table';
import { useTranslation } from 'react-i18next';
import { itemsFor } from './nav.ts';
import { useSession } from './session.tsx';

export default function KeyHelp({ close }: { close: () => void }) {
  const { t } = useTranslation();
  const { can, me } = useSession();
  const rows: [string, string][] = [
    ['Ctrl K', t('palette.open')],
    ['?', t('keys.help')],
    ['/', t('keys.search')],
    ['j k', t('keys.rows')],
    ['x', t('keys.choose')],
    ['Enter', t('keys.enter')],
    ['[ ]', t('keys.tabs')],
    ['Esc', t('keys.close')],
    ...(can('job:submit') ? [['c', t('nav.newJob')] as [string, string]] : []),
    ...itemsFor({ can, me })
      .filter((i) => i.letter !== undefined)
      .map((i): [string, string] => [`g ${i.letter!}`, t(i.key)]),
  ];
  return (
    <Modal isOpen variant="small" onClose={close} aria-labelledby="keys-title">
      <ModalHeader title={t('keys.title')} labelId="keys-title" description={t('keys.off')} />
      <ModalBody>
        <Table variant="compact" aria-label={t('keys.title')}>
          <Tbody>
            {rows.map(([k, what]) => (
              <Tr key={k}>
                <Td>
                  <kbd dir="ltr" translate="no">
                    {k}
                  </kbd>
                </Td>
                <Td>{what}</Td>
              </Tr>
            ))}
          </Tbody>
        </Table>
      </ModalBody>
    </Modal>
  );
}
