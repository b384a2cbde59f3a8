// SPDX-License-Identifier: Apache-2.0
// Matrix.tsx - what each role may do, from the table that the API decides by.
import {
  Button,
  FormSelect,
  FormSelectOption,
  SearchInput,
  Toolbar,
  ToolbarContent,
  ToolbarItem,
} from '@patternfly/react-core';
import { CheckIcon } from '@patternfly/react-icons';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { PERMISSIONS, ROLES } from '../../api/gen/roles.ts';
import { csvText, saveAs } from '../../lib/csv.ts';
import { permissionKey, rolesAt } from '../../lib/roles.ts';
import { useSession } from '../../shell/session.tsx';
import { Code } from '../../ui/bits.tsx';
import './members.css';

export function Matrix() {
  const { t } = useTranslation();
  const { me } = useSession();
  const [text, setText] = useState('');
  const [kind, setKind] = useState('');
  const roles = rolesAt(me.tenant === 'platform');
  const kinds = [...new Set(PERMISSIONS.map((p) => p.split(':')[0]!))];
  const said = (p: string): string => t(permissionKey(p));
  const rows = PERMISSIONS.filter(
    (p) =>
      roles.some((r) => ROLES[r]!.has.includes(p)) &&
      (kind === '' || p.startsWith(`${kind}:`)) &&
      `${p} ${said(p)}`.toLowerCase().includes(text.toLowerCase()),
  );
  const save = (): void =>
    saveAs(
      'roles.csv',
      csvText(
        ['permission', 'meaning', ...roles],
        rows.map((p) => ({
          permission: p,
          meaning: said(p),
          ...Object.fromEntries(roles.map((r) => [r, ROLES[r]!.has.includes(p) ? 'yes' : ''])),
        })),
      ),
    );
  return (
    <>
      <Toolbar className="list-tools">
        <ToolbarContent rowWrap={{ default: 'wrap' }}>
          <ToolbarItem>
            <SearchInput
              aria-label={t('members.findPermission')}
              placeholder={t('members.findPermission')}
              value={text}
              onChange={(_e, v) => setText(v)}
              onClear={() => setText('')}
              resetButtonLabel={t('act.clear')}
            />
          </ToolbarItem>
          <ToolbarItem>
            <FormSelect aria-label={t('members.resource')} value={kind} onChange={(_e, v) => setKind(v)}>
              <FormSelectOption value="" label={t('members.anyResource')} />
              {kinds.map((k) => (
                <FormSelectOption key={k} value={k} label={k} />
              ))}
            </FormSelect>
          </ToolbarItem>
          <ToolbarItem align={{ default: 'alignEnd' }}>
            <Button variant="secondary" onClick={save}>
              {t('list.csv')}
            </Button>
          </ToolbarItem>
        </ToolbarContent>
      </Toolbar>
      <div className="matrix" role="region" aria-label={t('members.matrix')} tabIndex={0}>
        <Table aria-label={t('members.matrix')} variant="compact" gridBreakPoint="">
          <Thead>
            <Tr>
              <Th modifier="wrap">{t('members.permission')}</Th>
              {roles.map((r) => (
                <Th key={r} modifier="wrap" {...(me.roles.includes(r) ? { className: 'mine' } : {})}>
                  {t(`role.${r}`)}
                </Th>
              ))}
            </Tr>
          </Thead>
          <Tbody>
            {rows.map((p) => (
              <Tr key={p}>
                <Th scope="row">
                  {said(p)}
                  <br />
                  <Code>{p}</Code>
                </Th>
                {roles.map((r) => (
                  <Td key={r} {...(me.roles.includes(r) ? { className: 'mine' } : {})}>
                    {ROLES[r]!.has.includes(p) ? (
                      <>
                        <CheckIcon aria-hidden />
                        <span className="pf-v6-screen-reader">{t('members.may')}</span>
                      </>
                    ) : (
                      <span className="lead" aria-label={t('members.mayNot')} role="img">
                        –
                      </span>
                    )}
                  </Td>
                ))}
              </Tr>
            ))}
          </Tbody>
        </Table>
      </div>
    </>
  );
}
