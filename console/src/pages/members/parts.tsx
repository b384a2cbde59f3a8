// SPDX-License-Identifier: Apache-2.0
// parts.tsx - what several parts of the members' page use: a picker of roles, of people by name, roles as labels.
import {
  Checkbox,
  FormGroup,
  FormHelperText,
  HelperText,
  HelperTextItem,
  Label,
  LabelGroup,
  TextInput,
} from '@patternfly/react-core';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { useTranslation } from 'react-i18next';
import { FaultText } from '../../ui/faulttext.tsx';
import { getPage, type Schemas } from '../../api/client.ts';
import { ROLES } from '../../api/gen/roles.ts';

export type User = Schemas['app_user'];
export type Binding = Schemas['role_binding'];
export const listOf = (value: unknown): string[] => (Array.isArray(value) ? (value as string[]) : []);
export const words = (text: unknown): string[] =>
  String(text ?? '')
    .split(/[\s,،;]+/)
    .filter((x) => x !== '');

export function Roles({ of }: { of: unknown }) {
  const { t } = useTranslation();
  return (
    <LabelGroup aria-label={t('members.roles')} numLabels={6}>
      {listOf(of).map((r) => (
        <Label key={r} isCompact variant="outline">
          {t(`role.${r}`)}
        </Label>
      ))}
    </LabelGroup>
  );
}

/** What is set up here; a provider's own second factor is not known. */
export function Factor({ user }: { user: User }) {
  const { t } = useTranslation();
  return user.has_second_factor ? (
    <Label isCompact color="green">
      {t('members.factorYes')}
    </Label>
  ) : (
    <span className="lead">{t('members.factorNo')}</span>
  );
}

interface Picked {
  label: string;
  roles: readonly string[];
  value: readonly string[];
  onChange: (roles: string[]) => void;
  required?: boolean;
}
export function RolePicker({ label, roles, value, onChange, required }: Picked) {
  const { t } = useTranslation();
  return (
    <FormGroup role="group" label={label} fieldId="roles" isRequired={required ?? false}>
      {roles.map((r) => (
        <Checkbox
          key={r}
          id={`role-${r}`}
          label={t(`role.${r}`)}
          description={t(`role.${r}_help`)}
          isChecked={value.includes(r)}
          onChange={(_e, on) => onChange(on ? [...value, r] : value.filter((x) => x !== r))}
        />
      ))}
      <FormHelperText>
        <HelperText>
          <HelperTextItem>
            {t('members.rolesHelp', { count: new Set(value.flatMap((r) => ROLES[r]!.has)).size })}
          </HelperTextItem>
        </HelperText>
      </FormHelperText>
    </FormGroup>
  );
}

/** Who is meant by a name that was typed or chosen; names are unique among those who are not gone. */
export async function userByName(name: string): Promise<User | undefined> {
  const page = await getPage('/v1/users', { name: name.trim(), page_size: 200 });
  const same = (u: User): boolean => u.name?.toLowerCase() === name.trim().toLowerCase();
  return page.data.find((u) => same(u) && u.state !== 'DEACTIVATED') ?? page.data.find(same);
}
interface ByName {
  id: string;
  label: string;
  help?: string;
  value: string;
  bad?: boolean;
  onChange: (name: string) => void;
}
export function PersonField({ id, label, help, value, bad = false, onChange }: ByName) {
  const { t } = useTranslation();
  const asked = useDeferredValue(value);
  const found = useQuery({
    queryKey: ['/v1/users', 'names', asked],
    queryFn: () => getPage('/v1/users', { name: asked, page_size: 20 }),
    staleTime: 30_000,
  });
  return (
    <FormGroup label={label} fieldId={id}>
      <TextInput
        id={id}
        list={`${id}-names`}
        value={value}
        autoComplete="off"
        dir="auto"
        validated={bad ? 'error' : 'default'}
        aria-describedby={`${id}-help`}
        onChange={(_e, v) => onChange(v)}
      />
      <datalist id={`${id}-names`}>
        {(found.data?.data ?? []).map((u) => (
          <option key={u.user_id} value={u.name} />
        ))}
      </datalist>
      <FormHelperText>
        <HelperText id={`${id}-help`}>
          <FaultText bad={bad}>{bad ? t('members.noSuch') : help}</FaultText>
        </HelperText>
      </FormHelperText>
    </FormGroup>
  );
}
