// SPDX-License-Identifier: Apache-2.0
// Expiring.tsx - what ends within a fortnight or should be renewed: one's own tokens, and keys that are due for rotation.
import { Card, CardBody, CardTitle } from '@patternfly/react-core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Page as ListOf, Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, Time, To } from '../../ui/bits.tsx';
import { Answer } from '../../ui/states.tsx';

const FORTNIGHT_MS = 14 * 86_400_000;

export function Expiring() {
  const { t } = useTranslation();
  const { can, me } = useSession();
  const hasTokens = can('token:own');
  const hasKeys = can('key:read') && me.tenant_id !== null;
  const tokens = useGet<ListOf<Schemas['api_token']>>(
    '/v1/api-tokens',
    { user_id: me.user_id, page_size: 200 },
    { enabled: hasTokens, everyMs: 60_000 },
  );
  const keys = useGet<ListOf<Schemas['key_summary']>>('/v1/keys', {}, { enabled: hasKeys, everyMs: 60_000 });
  const soon = (tokens.data?.data ?? []).filter((x) => {
    const left = Date.parse(x.expires_at ?? '') - Date.now();
    return !x.revoked_at && left > 0 && left < FORTNIGHT_MS;
  });
  const due = (keys.data?.data ?? []).filter((k) => k.advice);
  return (
    <Card>
      <CardTitle component="h2">{t('overview.expiring')}</CardTitle>
      <CardBody>
        <Answer of={(hasTokens ? tokens : keys) as UseQueryResult<unknown>}>
          {() =>
            soon.length + due.length === 0 ? (
              <p className="lead">{t('overview.nothingEnds')}</p>
            ) : (
              <ul className="rows">
                {soon.map((x) => (
                  <li key={x.token_id}>
                    <To to="/tokens">
                      <Name>{x.name}</Name>
                    </To>
                    <Time at={x.expires_at} ago />
                  </li>
                ))}
                {due.map((k) => (
                  <li key={k.zone}>
                    <To to={`/keys/${k.zone!}`}>
                      {t('overview.keyOf')} <Code>{k.zone}</Code>
                    </To>
                    <Time at={k.rotate_before} ago />
                  </li>
                ))}
              </ul>
            )
          }
        </Answer>
      </CardBody>
    </Card>
  );
}
