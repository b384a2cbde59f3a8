// SPDX-License-Identifier: Apache-2.0
// Create.tsx - making an access token: what for, how long, how far it reaches. The secret is shown this once.
import {
  Checkbox,
  ExpandableSection,
  FormGroup,
  FormHelperText,
  FormSelect,
  FormSelectOption,
  HelperText,
  HelperTextItem,
} from '@patternfly/react-core';
import { useState } from 'react';
import type { FieldError } from 'react-hook-form';
import { useTranslation } from 'react-i18next';
import { formFields } from '../../ui/form.tsx';
import { change } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { permissionKey } from '../../lib/roles.ts';
import { useSession } from '../../shell/session.tsx';
import { Code } from '../../ui/bits.tsx';
import { FormButton, OnceSecret } from '../../ui/dialogs.tsx';
import { NetsField } from '../members/conditions.tsx';
import '../members/members.css';
import { words } from '../members/parts.tsx';

const PRESETS: Record<string, (p: string) => boolean> = {
  all: () => true,
  read: (p) => p.endsWith(':read'),
  jobs: (p) => /^(job:(submit|read|cancel)|dataset:read|model:read|zone:read|project:read)$/.test(p),
  infer: (p) => /^deployment:(infer|read)$/.test(p),
  data: (p) => p.startsWith('dataset:'),
  audit: (p) => p.startsWith('audit:'),
};
interface Limits {
  scopes: string[];
  preset: string;
  cidrs: string;
  zones: string[];
}
const NO_LIMITS: Limits = { scopes: [], preset: 'all', cidrs: '', zones: [] };

function LimitFields({
  value,
  permissions,
  fault,
  onChange,
}: {
  value: Limits;
  permissions: readonly string[];
  fault: FieldError | undefined;
  onChange: (l: Limits) => void;
}) {
  const { t, i18n } = useTranslation();
  const { me } = useSession();
  const kinds = [...new Set(permissions.map((p) => p.split(':')[0]!))];
  const presets = Object.keys(PRESETS).filter((k) => k === 'all' || permissions.some(PRESETS[k]!));
  const choose = (preset: string): void =>
    onChange({
      ...value,
      preset,
      scopes: preset === 'all' ? [] : permissions.filter(PRESETS[preset] ?? (() => false)),
    });
  const toggle = (p: string, on: boolean): void =>
    onChange({ ...value, preset: 'own', scopes: on ? [...value.scopes, p] : value.scopes.filter((x) => x !== p) });
  return (
    <>
      <FormGroup label={t('tokens.scopes')} fieldId="t-preset">
        <FormSelect id="t-preset" value={value.preset} onChange={(_e, v) => choose(v)}>
          {presets.map((k) => (
            <FormSelectOption key={k} value={k} label={t(`tokens.preset_${k}`)} />
          ))}
          <FormSelectOption value="own" label={t('tokens.preset_own')} />
        </FormSelect>
        <FormHelperText>
          <HelperText>
            <HelperTextItem>
              {value.preset === 'all' ? t('tokens.allHelp') : t('tokens.scopeCount', { count: value.scopes.length })}
            </HelperTextItem>
          </HelperText>
        </FormHelperText>
      </FormGroup>
      {value.preset !== 'all' && (
        <ExpandableSection toggleText={t('tokens.pick')} isIndented>
          <div className="scopes">
            {kinds.map((k) => (
              <FormGroup
                key={k}
                role="group"
                label={
                  i18n.exists(`thing.${k}`) ? <span className="capital">{t(`thing.${k}`)}</span> : <Code>{k}</Code>
                }
                fieldId={`t-${k}`}
              >
                {permissions
                  .filter((p) => p.startsWith(`${k}:`))
                  .map((p) => (
                    <Checkbox
                      key={p}
                      id={`t-${p.replace(':', '-')}`}
                      label={i18n.exists(permissionKey(p)) ? t(permissionKey(p)) : p}
                      description={<Code>{p}</Code>}
                      isChecked={value.scopes.includes(p)}
                      onChange={(_e, on) => toggle(p, on)}
                    />
                  ))}
              </FormGroup>
            ))}
          </div>
        </ExpandableSection>
      )}
      <NetsField id="t-cidrs" value={value.cidrs} fault={fault} onChange={(v) => onChange({ ...value, cidrs: v })} />
      {me.allowed_zones.length > 1 && (
        <FormGroup role="group" label={t('tokens.zones')} fieldId="t-zones">
          {me.allowed_zones.map((z) => (
            <Checkbox
              key={z}
              id={`t-zone-${z}`}
              label={<Code>{z}</Code>}
              isChecked={value.zones.includes(z)}
              onChange={(_e, on) =>
                onChange({ ...value, zones: on ? [...value.zones, z] : value.zones.filter((x) => x !== z) })
              }
            />
          ))}
        </FormGroup>
      )}
    </>
  );
}

interface Props {
  /** For whom; absent: for oneself. */
  userId?: string;
  owner?: string;
  /** Of a service account: made at its own address, by who may make programs. */
  service?: boolean;
  permissions?: readonly string[];
  opens?: string;
  variant?: 'primary' | 'secondary' | 'link';
}
export function CreateToken({ userId, owner, service = false, permissions, variant = 'primary', opens }: Props) {
  const { t } = useTranslation();
  const { me } = useSession();
  const forget = useForget();
  const [limits, setLimits] = useState<Limits>(NO_LIMITS);
  const [secret, setSecret] = useState<string | null>(null);
  const fields = formFields(
    { name: 'name', label: t('tokens.purpose'), required: true, max: 128, help: t('tokens.purposeHelp') },
    {
      name: 'expires_in_days',
      label: t('tokens.days'),
      kind: 'number',
      required: true,
      min: 1,
      max: 90,
      help: t('tokens.daysHelp'),
    },
  );
  return (
    <>
      <FormButton
        {...(opens ? { opens } : {})}
        variant={variant}
        label={t('nav.newToken')}
        title={owner ? t('tokens.createFor', { name: `\u2068${owner}\u2069` }) : t('nav.newToken')}
        size="medium"
        fields={fields}
        initial={{ expires_in_days: '30' }}
        onOpen={() => setLimits(NO_LIMITS)}
        extraNames={['cidrs']}
        extra={(form) => (
          <LimitFields
            value={limits}
            permissions={permissions ?? me.permissions}
            fault={form.formState.errors['cidrs']}
            onChange={setLimits}
          />
        )}
        onSubmit={async (v) => {
          const path = service ? (`/v1/service-accounts/${userId!}/tokens` as const) : ('/v1/api-tokens' as const);
          const made = await change('POST', path, {
            name: v['name'],
            expires_in_days: Number(v['expires_in_days']),
            scopes: limits.scopes,
            cidrs: words(limits.cidrs),
            zones: limits.zones,
            ...(userId && !service && userId !== me.user_id ? { user_id: userId } : {}),
          });
          await forget('/v1/api-tokens');
          setSecret(made.token ?? '');
        }}
      />
      {secret !== null && <OnceSecret title={t('tokens.secret')} secrets={[secret]} onClose={() => setSecret(null)} />}
    </>
  );
}
