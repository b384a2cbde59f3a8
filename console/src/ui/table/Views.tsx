// SPDX-License-Identifier: Apache-2.0
// Views.tsx - named views of a list: filters, order and columns, kept by the server for one person or shared within the
// organisation. What an earlier console left in this browser is moved there once.
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
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { NAME_MAX, viewOf, VIEWS_MAX, type Memory } from '../../lib/lists.ts';
import { readSearch, writeSearch, type Search } from '../../lib/search.ts';
import { useSession } from '../../shell/session.tsx';
import { Alert } from '../alert.tsx';
import { Name } from '../bits.tsx';
import { ApiForm } from '../form.tsx';
import { inMain } from '../overlay.ts';
import { useProblemText } from '../states.tsx';
import { toast } from '../toast.tsx';

interface Props {
  list: string;
  memory: Memory;
  /** The address as it would be shared, with the columns in it. */
  search: Search;
  go: (search: Search) => void;
  put: (memory: Memory) => void;
}
type View = Schemas['saved_view'];
const PAGE = 200;

/** Those that are in this browser go to the server, one by one, and what went is forgotten here. */
function useMove({ list, memory, put }: Pick<Props, 'list' | 'memory' | 'put'>, isOpen: boolean): void {
  const { t } = useTranslation();
  const forget = useForget();
  const next = memory.views[0];
  useEffect(() => {
    if (!isOpen || next === undefined) return;
    const body = { list, name: next.name, query: writeSearch(next.search), shared: false };
    void change('POST', '/v1/views', body).then(
      async () => {
        put({ ...memory, views: memory.views.slice(1) });
        if (memory.views.length === 1) toast(t('views.moved'));
        await forget('/v1/views');
      },
      () => undefined, // they stay where they are, for the next time
    );
    // Once for each of them: the other inputs are written anew at each drawing
  }, [isOpen, next]);
}

export function Views({ list, memory, search, go, put }: Props) {
  const { t } = useTranslation();
  const text = useProblemText();
  const forget = useForget();
  const { me, can } = useSession();
  const [open, setOpen] = useState(false);
  const [dialog, setDialog] = useState(false);
  const views = useGet('/v1/views', { list, page_size: PAGE }, { enabled: open || dialog });
  useMove({ list, memory, put }, open || dialog);
  const rows = [...(views.data?.data ?? [])].sort((a, b) => (a.name ?? '').localeCompare(b.name ?? ''));
  const isOwn = (v: View): boolean => v.owner_id === me.user_id;
  const copy = async (query: string): Promise<void> => {
    await navigator.clipboard.writeText(`${location.origin}${location.pathname}${query}`);
    toast(t('act.copied'));
  };
  const remove = (v: View): Promise<void> =>
    change('DELETE', `/v1/views/${v.view_id!}`)
      .then(() => forget('/v1/views'))
      .catch((p: unknown) => toast(text(p), 'danger'));
  const by = (v: View): string | null =>
    isOwn(v) ? (v.shared ? t('views.shared') : null) : t('views.by', { who: `\u2068${v.owner_name ?? ''}\u2069` });
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
          {rows.map((v) => (
            <DropdownItem key={v.view_id} description={by(v)} onClick={() => go(readSearch(v.query ?? ''))}>
              <Name>{v.name}</Name>
            </DropdownItem>
          ))}
          {rows.length > 0 && <Divider component="li" />}
          <DropdownItem onClick={() => setDialog(true)}>{t('views.edit')}</DropdownItem>
          <DropdownItem onClick={() => void copy(writeSearch(search))}>{t('views.share')}</DropdownItem>
        </DropdownList>
      </Dropdown>
      {dialog && (
        <Modal isOpen variant="small" onClose={() => setDialog(false)} aria-labelledby="views-title">
          <ModalHeader title={t('views.edit')} labelId="views-title" />
          <ModalBody>
            <Alert isInline isPlain variant="info" title={t('views.where')} className="effect" />
            {rows.length > 0 && (
              <ul className="rows effect">
                {rows.map((v) => (
                  <li key={v.view_id}>
                    <span>
                      <Name>{v.name}</Name> <span className="subtle">{by(v)}</span>
                    </span>
                    <span>
                      <Button variant="link" isInline onClick={() => void copy(v.query ?? '')}>
                        {t('views.copy')}
                      </Button>{' '}
                      {(isOwn(v) || can('user:manage')) && (
                        <Button variant="link" isInline isDanger onClick={() => void remove(v)}>
                          {t('views.remove')}
                        </Button>
                      )}
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
                { name: 'shared', label: t('views.shareAll'), kind: 'check' },
              ]}
              submit={t('views.keep')}
              onCancel={() => setDialog(false)}
              onSubmit={async (v) => {
                const kept = writeSearch(viewOf(search));
                await change('POST', '/v1/views', { list, name: v.name.trim(), query: kept, shared: v.shared });
                await forget('/v1/views');
                setDialog(false);
                toast(t('views.kept'));
              }}
            />
          </ModalBody>
        </Modal>
      )}
    </>
  );
}
