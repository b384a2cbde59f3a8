// SPDX-License-Identifier: Apache-2.0
// Join.tsx - how a machine comes in: a join token, shown once with what is to be done on the new machine, and the tokens there are.
import { Button, Modal, ModalBody, ModalHeader } from '@patternfly/react-core';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, withQuery, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { Alert } from '../../ui/alert.tsx';
import { Code, Name, State, Time, To } from '../../ui/bits.tsx';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { SLUG } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { ServerTable, useListSearch, type Filter } from '../../ui/table.tsx';
import { Copyable } from './copy.tsx';
import './fleet.css';

type Token = Schemas['join_token'];
type Made = Schemas['join_create_out'];

/** What an operator types on the new machine, whole: the settings that only this token knows, then the start. */
function conf(made: Made): string {
  const api = new URL(location.origin);
  return [
    `worker.api_url = https://${api.hostname}:8443`,
    `worker.enrol_url = ${location.origin}`,
    `worker.zone = ${made.zone!}`,
    `worker.pool = ${made.pool!}`,
    'worker.cert = /var/lib/falaj/worker.pem',
    'worker.key = /var/lib/falaj/worker.key',
    'worker.ca = /etc/falaj/api-ca.pem',
    'worker.join_token_file = /etc/falaj/join-token',
  ].join('\n');
}

const LOOK_MS = 2000;
/** The nodes of its zone and pool that were not there when the token was made. */
function Arrivals({ made }: { made: Made }) {
  const { t } = useTranslation();
  const where = { zone: made.zone!, pool: made.pool!, page_size: 200 };
  const nodes = useGet('/v1/nodes', where, { everyMs: LOOK_MS });
  const before = useRef<Set<string> | null>(null);
  if (nodes.data && before.current === null) before.current = new Set(nodes.data.data.map((n) => n.node_id!));
  const fresh = (nodes.data?.data ?? []).filter((n) => before.current && !before.current.has(n.node_id!));
  return (
    <div role="status" className="block">
      {fresh.length === 0 ? (
        <p className="lead">{t('join.waits')}</p>
      ) : (
        fresh.map((n) => (
          <p key={n.node_id}>
            {t('join.came')}{' '}
            <To to={`/workers/${n.node_id!}`}>
              <Name>{n.name}</Name>
            </To>{' '}
            <State value={n.state} />
          </p>
        ))
      )}
    </div>
  );
}

function Once({ made, onClose }: { made: Made; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Modal isOpen variant="medium" onClose={onClose} aria-labelledby="join-title">
      <ModalHeader title={t('join.made')} labelId="join-title" />
      <ModalBody>
        <Alert isInline variant="warning" variantLabel={t('state.warning')} title={t('confirm.once')} />
        <ol className="join-lines block">
          <li>
            {t('join.token')}
            <Copyable label={t('join.token')} text={made.token!} />
          </li>
          <li>
            {t('join.store')}
            <Copyable
              label={t('join.store')}
              text={`umask 077 && printf '%s' '${made.token!}' >/etc/falaj/join-token`}
            />
          </li>
          <li>
            {t('join.settings')} <Code>{'/etc/falaj/worker.conf'}</Code>
            <Copyable label={t('join.settings')} text={conf(made)} />
          </li>
          <li>
            {t('join.start')}
            <Copyable label={t('join.start')} text="falaj-worker --config /etc/falaj/worker.conf" />
          </li>
        </ol>
        <p>
          {t('tokens.expires')}: <Time at={made.expires_at} />
        </p>
        <Arrivals made={made} />
        <Button className="once-done" onClick={onClose}>
          {t('confirm.kept')}
        </Button>
      </ModalBody>
    </Modal>
  );
}

const stateOf = (token: Token): string =>
  token.revoked_at
    ? 'revoked'
    : Date.parse(token.expires_at!) <= Date.now()
      ? 'expired'
      : token.used >= token.uses
        ? 'used'
        : 'active';

export function Join() {
  const { t } = useTranslation();
  const forget = useForget();
  const [made, setMade] = useState<Made | null>(null);
  const zones = useGet('/v1/zones', { page_size: 200 });
  const filters: Filter[] = [
    { name: 'zone', label: t('col.zone') },
    { name: 'pool', label: t('col.pool') },
  ];
  return (
    <Page
      name={t('join.title')}
      title={t('join.title')}
      lead={t('join.lead')}
      crumbs={[[t('nav.workers'), '/workers']]}
      api={['POST /v1/join-tokens', `GET ${withQuery('/v1/join-tokens', useListSearch(filters))}`]}
      cli={["falaj node join-token --zone ZONE --pool default -o 'jsonpath={.token}'", 'falaj node join-tokens']}
      actions={
        zones.data && (
          <FormButton
            label={t('join.new')}
            title={t('join.new')}
            opens="join"
            fields={[
              {
                name: 'zone',
                label: t('col.zone'),
                kind: 'select',
                options: zones.data.data.map((z) => ({ value: z.code!, label: `${z.code!} · ${z.name!}` })),
                required: true,
              },
              { name: 'pool', label: t('col.pool'), pattern: SLUG, required: true },
              {
                name: 'node_name',
                label: t('join.name'),
                help: t('join.nameHelp'),
                pattern: /^[a-z0-9][a-z0-9._-]{0,62}$/,
              },
              { name: 'cidrs', label: t('join.cidrs'), help: t('join.cidrsHelp'), pattern: /^[0-9a-fA-F.:/, ]+$/ },
              { name: 'uses', label: t('join.uses'), kind: 'number', min: 1, max: 1000, required: true },
              {
                name: 'expires_in_minutes',
                label: t('join.minutes'),
                kind: 'number',
                min: 1,
                max: 10080,
                required: true,
              },
            ]}
            initial={{ zone: zones.data.data[0]?.code ?? '', pool: 'default', uses: '1', expires_in_minutes: '60' }}
            onSubmit={async (v) => {
              const cidrs = String(v['cidrs'] ?? '')
                .split(/[\s,]+/)
                .filter(Boolean);
              const out = await change('POST', '/v1/join-tokens', {
                zone: v['zone'],
                pool: v['pool'],
                ...(v['node_name'] ? { node_name: v['node_name'] } : {}),
                ...(cidrs.length > 0 ? { cidrs } : {}),
                uses: Number(v['uses']),
                expires_in_minutes: Number(v['expires_in_minutes']),
              });
              setMade(out);
              await forget('/v1/join-tokens');
            }}
          />
        )
      }
    >
      <ServerTable
        path="/v1/join-tokens"
        label={t('join.title')}
        filters={filters}
        rowKey={(k) => k.join_token_id!}
        columns={[
          { name: 'hint', label: t('join.hint'), cell: (k) => <Code>{k.hint}</Code> },
          { name: 'revoked_at', label: t('col.state'), cell: (k) => <State value={stateOf(k)} /> },
          { name: 'zone', label: t('col.zone'), cell: (k) => <Code>{k.zone}</Code> },
          { name: 'pool', label: t('col.pool'), cell: (k) => <Code>{k.pool}</Code> },
          {
            name: 'node_name',
            label: t('join.for'),
            cell: (k) => (k.node_name ? <Name>{k.node_name}</Name> : t('join.any')),
          },
          {
            name: 'used',
            label: t('join.enrolled'),
            cell: (k) => t('overview.of', { used: number(k.used), limit: number(k.uses) }),
          },
          { name: 'expires_at', label: t('tokens.expires'), cell: (k) => <Time at={k.expires_at} ago /> },
          { name: 'created_at', label: t('col.created'), cell: (k) => <Time at={k.created_at} ago /> },
        ]}
        rowName={(k) => k.hint ?? ''}
        bulk={[
          {
            label: t('join.revoke'),
            danger: true,
            confirm: t('bulk.joinTokens'),
            fits: (k) => stateOf(k) === 'active',
            run: (k) => change('DELETE', `/v1/join-tokens/${k.join_token_id!}`),
          },
        ]}
        rowActions={(k) =>
          stateOf(k) === 'active' ? (
            <TypedConfirm
              variant="secondary"
              label={t('join.revoke')}
              title={t('join.revoke')}
              name={k.hint ?? ''}
              effect={t('join.revokeEffect')}
              onConfirm={async () => {
                await change('DELETE', `/v1/join-tokens/${k.join_token_id!}`);
                await forget('/v1/join-tokens');
              }}
            />
          ) : null
        }
        empty={<Empty title={t('join.none')} body={t('join.lead')} cli="falaj node join-token --zone ZONE" />}
      />
      {made && <Once made={made} onClose={() => setMade(null)} />}
    </Page>
  );
}
