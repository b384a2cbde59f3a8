// SPDX-License-Identifier: Apache-2.0
// Columns.tsx - which columns stand and in which order; kept for this person and this list.
import { Button, Checkbox, Popover } from '@patternfly/react-core';
import { ArrowDownIcon, ArrowUpIcon, ColumnsIcon } from '@patternfly/react-icons';
import { useTranslation } from 'react-i18next';
import { moved } from '../../lib/lists.ts';
import { inMain } from '../overlay.ts';

interface Props {
  all: { name: string; label: string }[];
  shown: string[];
  put: (names: string[] | undefined) => void;
}

export function ColumnChooser({ all, shown, put }: Props) {
  const { t } = useTranslation();
  const rows = [...shown.map((n) => all.find((c) => c.name === n)!), ...all.filter((c) => !shown.includes(c.name))];
  return (
    <Popover
      headerContent={t('list.columns')}
      aria-label={t('list.columns')}
      closeBtnAriaLabel={t('act.close')}
      position="bottom-end"
      appendTo={inMain}
      headerComponent="h2"
      minWidth="18rem"
      bodyContent={
        <ul className="rows columns-list">
          {rows.map((c) => {
            const at = shown.indexOf(c.name);
            const fixed = c.name === all[0]!.name;
            return (
              <li key={c.name}>
                <Checkbox
                  id={`column-${c.name}`}
                  label={c.label}
                  isChecked={at >= 0}
                  isDisabled={fixed}
                  onChange={(_e, on) => put(on ? [...shown, c.name] : shown.filter((n) => n !== c.name))}
                />
                {at > 0 && (
                  <span>
                    <Button
                      variant="plain"
                      size="sm"
                      icon={<ArrowUpIcon />}
                      aria-label={t('list.earlier', { what: c.label })}
                      isDisabled={at <= 1}
                      onClick={() => put(moved(shown, c.name, -1))}
                    />
                    <Button
                      variant="plain"
                      size="sm"
                      icon={<ArrowDownIcon />}
                      aria-label={t('list.later', { what: c.label })}
                      isDisabled={at === shown.length - 1}
                      onClick={() => put(moved(shown, c.name, 1))}
                    />
                  </span>
                )}
              </li>
            );
          })}
        </ul>
      }
      footerContent={
        <Button variant="link" isInline onClick={() => put(undefined)}>
          {t('list.reset')}
        </Button>
      }
    >
      <Button variant="plain" icon={<ColumnsIcon />} aria-label={t('list.columns')} className="columns-button" />
    </Popover>
  );
}
