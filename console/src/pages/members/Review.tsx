// SPDX-License-Identifier: Apache-2.0
// Review.tsx - who holds what, for the periodic review: what stands out first, then every role of everybody as CSV.
import { Button, Card, CardBody, CardTitle, Progress } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { getPage, type Schemas } from '../../api/client.ts';
import type { Asked, ItemOf } from '../../api/paths.ts';
import { useGet } from '../../api/hooks.ts';
import { ROLES } from '../../api/gen/roles.ts';
import { csvText, saveAs } from '../../lib/csv.ts';
import { number } from '../../lib/format.ts';
import { rolesAt } from '../../lib/roles.ts';
import { useSession } from '../../shell/session.tsx';
import { Name, To } from '../../ui/bits.tsx';
import { Answer, useProblemText } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { listOf, type Binding, type User } from './parts.tsx';
import { titleOf } from '../../lib/titles.ts';

const NAMES = [
  'user_id',
  'name',
  'kind',
  'state',
  'created_at',
  'last_seen_at',
  'has_second_factor',
  'role',
  'place',
  'zone',
  'project',
  'valid_from',
  'valid_until',
  'mfa_age_seconds',
  'cidrs',
  'in_zones',
  'source',
  'granted_by',
  'granted_at',
];

type Lists = '/v1/users' | '/v1/role-bindings' | '/v1/projects';

/** Every page of a list; told of how many rows there are after each. */
async function all<A extends Lists>(path: A, tell: (n: number) => void): Promise<ItemOf<A>[]> {
  const rows: ItemOf<A>[] = [];
  for (let token: string | undefined; ;) {
    const page = await getPage(path, ...([{ page_size: 200, page_token: token }] as Asked<A>));
    rows.push(...page.data);
    tell(rows.length);
    token = page.next_page_token;
    if (token === undefined) return rows;
  }
}

export function reviewRows(
  users: User[],
  bindings: Binding[],
  projects: Schemas['project'][],
): Record<string, unknown>[] {
  const byId = new Map(users.map((u) => [u.user_id, u]));
  const named = new Map(projects.map((p) => [p.project_id, titleOf(p)]));
  const held = new Set(bindings.map((b) => b.user_id));
  const person = (u: User | undefined, id: string | undefined): Record<string, unknown> => ({
    ...u,
    roles: undefined,
    user_id: id,
  });
  return [
    ...bindings.map((b) => ({
      ...person(byId.get(b.user_id), b.user_id),
      role: b.role,
      place: b.place,
      zone: b.zone,
      project: b.project_id && (named.get(b.project_id) ?? b.project_id),
      valid_from: b.valid_from,
      valid_until: b.valid_until,
      mfa_age_seconds: b.mfa_age_seconds || undefined,
      cidrs: listOf(b.cidrs).join(' '),
      in_zones: listOf(b.in_zones).join(' '),
      source: b.source,
      granted_by: byId.get(b.created_by)?.name ?? b.created_by,
      granted_at: b.created_at,
    })),
    // Who holds nothing is part of the answer to who holds what.
    ...users.filter((u) => !held.has(u.user_id)).map((u) => person(u, u.user_id)),
  ];
}

export function Review() {
  const { t } = useTranslation();
  const { me, can } = useSession();
  const text = useProblemText();
  const [busy, setBusy] = useState<number | null>(null);
  const users = useGet('/v1/users', { page_size: 200, sort: 'name' });
  const roles = rolesAt(me.tenant === 'platform');
  const save = async (): Promise<void> => {
    setBusy(0);
    try {
      const people = await all('/v1/users', setBusy);
      const bindings = await all('/v1/role-bindings', (n) => setBusy(people.length + n));
      const projects = can('project:read') ? await all('/v1/projects', () => undefined) : [];
      const day = new Date().toISOString().slice(0, 10);
      saveAs(`access-review-${me.tenant ?? ''}-${day}.csv`, csvText(NAMES, reviewRows(people, bindings, projects)));
    } catch (p) {
      toast(text(p), 'danger');
    } finally {
      setBusy(null);
    }
  };
  return (
    <>
      <p className="lead">{t('members.reviewBody')}</p>
      <p className="block">
        <Button
          isLoading={busy !== null}
          isDisabled={busy !== null}
          spinnerAriaValueText={t('state.loading')}
          onClick={() => void save()}
        >
          {busy === null ? t('members.reviewCsv') : t('members.reviewing', { count: busy })}
        </Button>
      </p>
      <Answer of={users}>
        {(page) => {
          const here = page.data.filter((u) => u.state !== 'DEACTIVATED');
          const holders = (r: string): User[] => here.filter((u) => listOf(u.roles).includes(r));
          const grants = here.filter((u) => listOf(u.roles).some((r) => ROLES[r]?.has.includes('role:grant')));
          const idle = here.filter((u) => u.state === 'DISABLED' && listOf(u.roles).length > 0);
          const none = here.filter((u) => listOf(u.roles).length === 0);
          const list = (title: string, of: User[]) => (
            <Card key={title}>
              <CardTitle component="h2">
                {title}: {number(of.length)}
              </CardTitle>
              <CardBody>
                {of.length === 0 ? (
                  <span className="lead">{t('members.nobody')}</span>
                ) : (
                  <ul className="rows">
                    {of.slice(0, 12).map((u) => (
                      <li key={u.user_id}>
                        <To to={`/members/${u.user_id!}`}>
                          <Name>{u.name}</Name>
                        </To>
                        <span>{t(`kind.${u.kind!}`)}</span>
                      </li>
                    ))}
                  </ul>
                )}
              </CardBody>
            </Card>
          );
          return (
            <>
              <div className="cards">
                {list(t('members.canGrant'), grants)}
                {list(t('members.disabledHold'), idle)}
                {list(
                  t('members.grantNoFactor'),
                  grants.filter((u) => u.kind === 'person' && !u.has_second_factor),
                )}
                {list(t('members.holdNothing'), none)}
              </div>
              <h2 className="block">{t('members.byRole')}</h2>
              <div className="cards">
                {roles
                  .filter((r) => holders(r).length > 0)
                  .map((r) => (
                    <Progress
                      key={r}
                      title={t(`role.${r}`)}
                      value={here.length === 0 ? 0 : Math.round((holders(r).length / here.length) * 100)}
                      label={number(holders(r).length)}
                      valueText={number(holders(r).length)}
                    />
                  ))}
              </div>
              {page.next_page_token !== undefined && <p className="lead block">{t('members.firstOnly')}</p>}
            </>
          );
        }}
      </Answer>
    </>
  );
}
