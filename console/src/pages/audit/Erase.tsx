// SPDX-License-Identifier: Apache-2.0
// Erase.tsx - the button that erases a person: with the name typed, and not at all under a legal hold.
import { useTranslation } from 'react-i18next';
import { change } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { TypedConfirm } from '../../ui/dialogs.tsx';
import { toast } from '../../ui/toast.tsx';

/** why: what forbids it, in words; empty: nothing does. */
export function EraseButton({ id, name, why, onDone }: { id: string; name: string; why: string; onDone?: () => void }) {
  const { t } = useTranslation();
  const forget = useForget();
  return (
    <TypedConfirm
      label={t('erasures.erase')}
      title={t('erasures.erase')}
      name={name}
      effect={t('erasures.effect')}
      {...(why === '' ? {} : { why })}
      onConfirm={async () => {
        await change('POST', '/v1/audit/erasures', { user_id: id });
        toast(t('erasures.done'));
        onDone?.();
        await Promise.all([forget('/v1/audit'), forget('/v1/users')]);
      }}
    />
  );
}
