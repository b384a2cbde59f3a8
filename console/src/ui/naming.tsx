// SPDX-License-Identifier: Apache-2.0
// naming.tsx - the two names for people of a thing: their fields, and the dialog that sets them.
import { useTranslation } from 'react-i18next';
import { useForget } from '../api/hooks.ts';
import { FormButton } from './dialogs.tsx';
import { bodyOf, formFields, type Field, type Values } from './form.tsx';
import type { Lock } from './conflict.tsx';

const MAX = 128;

export function useNameFields() {
  const { t } = useTranslation();
  return formFields(
    { name: 'display_name', label: t('col.shown'), max: MAX },
    { name: 'display_name_ar', label: t('col.shownAr'), help: t('col.shownArHelp'), max: MAX },
  );
}

interface Props {
  of: { display_name?: string; display_name_ar?: string } & Record<string, unknown>;
  /** What else the dialog sets; a field that is emptied is sent empty. */
  before?: readonly Field[];
  after?: readonly Field[];
  lock?: Lock;
  variant?: 'secondary' | 'link';
  label?: string;
  /** What is read again afterwards. */
  forgets: string;
  save: (
    body: { display_name?: string; display_name_ar?: string; description?: string },
    tag: string,
  ) => Promise<unknown>;
}
export function RenameButton({
  of,
  before = [],
  after = [],
  lock,
  variant = 'secondary',
  label,
  forgets,
  save,
}: Props) {
  const { t } = useTranslation();
  const forget = useForget();
  const fields: Field[] = [...before, ...useNameFields(), ...after];
  const initial: Values = Object.fromEntries(fields.map((f) => [f.name, String(of[f.name] ?? '')]));
  return (
    <FormButton
      variant={variant}
      label={label ?? t('act.rename')}
      title={label ?? t('act.rename')}
      fields={fields}
      initial={initial}
      {...(lock ? { lock } : {})}
      onSubmit={async (v, tag) => {
        const empty = Object.fromEntries(fields.filter((f) => !f.required).map((f) => [f.name, '']));
        await save({ ...empty, ...bodyOf(fields, v) }, tag);
        await forget(forgets);
      }}
    />
  );
}
