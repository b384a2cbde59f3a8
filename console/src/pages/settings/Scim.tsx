// SPDX-License-Identifier: Apache-2.0
// Scim.tsx - what the organisation's directory needs to provision people and groups: an address, and a token that may do only that.
import { Card, CardBody, CardTitle, ClipboardCopy } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { Name, Time, To } from '../../ui/bits.tsx';
import { FormButton, OnceSecret } from '../../ui/dialogs.tsx';
import { Answer } from '../../ui/states.tsx';
import { listOf } from '../members/parts.tsx';

const SCOPE = 'scim:provision';

export function Scim() {
  const { t } = useTranslation();
  const forget = useForget();
  const [secret, setSecret] = useState<string | null>(null);
  const tokens = useGet('/v1/api-tokens', { state: 'active', page_size: 200 });
  const base = `${location.origin}/scim/v2`;
  const make = (
    <FormButton
      label={t('settings.scimToken')}
      title={t('settings.scimToken')}
      lead={<p className="effect">{t('settings.scimTokenBody')}</p>}
      fields={[{ name: 'name', label: t('settings.scimName'), required: true, max: 128 }]}
      initial={{ name: 'directory' }}
      onSubmit={async (v) => {
        const user = await change('POST', '/v1/users', {
          name: v['name'],
          kind: 'service',
          roles: ['provisioner'],
        });
        const made = await change('POST', '/v1/api-tokens', {
          name: 'scim',
          user_id: user.user_id,
          scopes: [SCOPE],
          expires_in_days: 90,
        });
        await forget('/v1/api-tokens');
        setSecret(made.token ?? '');
      }}
    />
  );
  return (
    <div className="cards wide">
      <Card>
        <CardTitle component="h2">{t('settings.scim')}</CardTitle>
        <CardBody>
          <p className="block">{t('settings.scimBody')}</p>
          <p>{t('settings.scimBase')}</p>
          <ClipboardCopy
            isReadOnly
            hoverTip={t('act.copy')}
            clickTip={t('act.copied')}
            textAriaLabel={t('settings.scimBase')}
            dir="ltr"
          >
            {base}
          </ClipboardCopy>
          <p className="block">{make}</p>
        </CardBody>
      </Card>
      <Card>
        <CardTitle component="h2">{t('settings.scimTokens')}</CardTitle>
        <CardBody>
          <Answer of={tokens}>
            {(page) => {
              const own = page.data.filter((x) => listOf(x.scopes).includes(SCOPE));
              return own.length === 0 ? (
                <p className="lead">{t('settings.scimNone')}</p>
              ) : (
                <ul className="rows">
                  {own.map((x) => (
                    <li key={x.token_id}>
                      <To to={`/members/${x.user_id!}?tab=tokens`}>
                        <Name>{x.name}</Name>
                      </To>
                      <span>
                        {t('tokens.expires')} <Time at={x.expires_at} ago />
                      </span>
                    </li>
                  ))}
                </ul>
              );
            }}
          </Answer>
          <p className="block">
            <To to="/members?tab=groups">{t('settings.scimGroups')}</To>
          </p>
        </CardBody>
      </Card>
      {secret !== null && <OnceSecret title={t('tokens.secret')} secrets={[secret]} onClose={() => setSecret(null)} />}
    </div>
  );
}
