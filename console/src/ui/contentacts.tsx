// SPDX-License-Identifier: Apache-2.0
// contentacts.tsx - what is done to a data set or a model from its page: its names and description are set, or it is deleted.
import { useNavigate } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { useTranslation } from 'react-i18next';
import { useForget } from '../api/hooks.ts';
import type { Lock } from './conflict.tsx';
import { TypedConfirm } from './dialogs.tsx';
import { RenameButton } from './naming.tsx';

interface Props {
  of: ComponentProps<typeof RenameButton>['of'] & { name?: string; version: number };
  /** Its words, and its list in the console and the API. */
  kind: 'datasets' | 'models';
  read: Lock['read'];
  save: ComponentProps<typeof RenameButton>['save'];
  remove: () => Promise<unknown>;
}
export function ContentActs({ of, kind, read, save, remove }: Props) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const forget = useForget();
  return (
    <>
      <RenameButton
        of={of}
        after={[{ name: 'description', label: t('col.description'), kind: 'area', max: 1024 }]}
        lock={{ read, was: { ...of } }}
        forgets={`/v1/${kind}`}
        save={save}
      />
      <TypedConfirm
        label={t(`${kind}.delete`)}
        title={t(`${kind}.deleteTitle`)}
        name={of.name ?? ''}
        effect={t(`${kind}.deleteEffect`)}
        onConfirm={async () => {
          await remove();
          await forget(`/v1/${kind}`);
          await navigate({ to: `/${kind}` });
        }}
      />
    </>
  );
}
