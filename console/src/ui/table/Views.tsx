// SPDX-License-Identifier: Apache-2.0
// Views.tsx - named views of a list: filters, order and columns. Kept in this browser; the address shares them.
import {
  Button,
  Divider,
  Dropdown,
  DropdownItem,
  DropdownList,
  MenuToggle,
  Modal,
  ModalBody,
  ModalHeader,
} from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Alert } from '../alert.tsx';
import { dropView, keepView, NAME_MAX, VIEWS_MAX, type Memory } from '../../lib/lists.ts';
import { writeSearch, type Search } from '../../lib/search.ts';
import { Name } from '../bits.tsx';
import { ApiForm } from '../form.tsx';
import { inMain } from '../overlay.ts';
import { toast } from '../toast.tsx';

interface Props {
  memory: Memory;
  /** The address as it would be shared, with the columns in it. */
  search: Search;
  go: (search: Search) => void;
  put: (memory: Memory) => void;
}

export function Views({ memory, search, go, put }: Props) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const [dialog, setDialog] = useState(false);
  const copy = async (of: Search): Promise<void> => {
    await navigator.clipboard.writeText(`${location.origin}${location.pathname}${writeSearch(of)}`);
    toast(t('act.copied'));
  };
  return (
    <>
      <Dropdown
        isOpen={open}
        onOpenChange={setOpen}
        onSelect={() => setOpen(false)}
        popperProps={{ position: 'end', appendTo: inMain }}
        toggle={(ref) => (
          <MenuToggle ref={ref} onClick={() => setOpen(!open)} isExpanded={open} className="views-button">
            {t('views.title')}
          </MenuToggle>
        )}
      >
        <DropdownList>
          {memory.views.map((v) => (
            <DropdownItem key={v.name} onClick={() => go(v.search)}>
              <Name>{v.name}</Name>
            </DropdownItem>
          ))}
          {memory.views.length > 0 && <Divider component="li" />}
          <DropdownItem onClick={() => setDialog(true)}>{t('views.edit')}</DropdownItem>
          <DropdownItem onClick={() => void copy(search)}>{t('views.share')}</DropdownItem>
        </DropdownList>
      </Dropdown>
      {dialog && (
        <Modal isOpen variant="small" onClose={() => setDialog(false)} aria-labelledby="views-title">
          <ModalHeader title={t('views.edit')} labelId="views-title" />
          <ModalBody>
            <Alert isInline isPlain variant="info" title={t('views.where')} className="effect" />
            {memory.views.length > 0 && (
              <ul className="rows effect">
                {memory.views.map((v) => (
                  <li key={v.name}>
                    <Name>{v.name}</Name>
                    <span>
                      <Button variant="link" isInline onClick={() => void copy(v.search)}>
                        {t('views.copy')}
                      </Button>{' '}
                      <Button variant="link" isInline isDanger onClick={() => put(dropView(memory, v.name))}>
                        {t('views.remove')}
                      </Button>
                    </span>
                  </li>
                ))}
              </ul>
            )}
            <ApiForm
              fields={[
                {
                  name: 'name',
                  label: t('views.name'),
                  required: true,
                  max: NAME_MAX,
                  help: t('views.limit', { n: VIEWS_MAX }),
                },
              ]}
              submit={t('views.keep')}
              onCancel={() => setDialog(false)}
              onSubmit={async (v) => {
                put(keepView(memory, String(v['name']).trim(), search));
                setDialog(false);
                toast(t('views.kept'));
                return Promise.resolve();
              }}
            />
          </ModalBody>
        </Modal>
      )}
    </>
  );
}
