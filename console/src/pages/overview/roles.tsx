// SPDX-License-Identifier: Apache-2.0
// roles.tsx - what the first page has for who runs the platform, and for who answers for the log: numbers, the newest of each.
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { useProof } from '../../api/proof.ts';
import { bytes, number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Called, Code, Name, State, Time, To } from '../../ui/bits.tsx';
import { Answer } from '../../ui/states.tsx';
import { shareOf, useFleet, usable, type Node, type Share } from '../fleet/data.ts';
import { Part } from './cards.tsx';
import { Tile } from './Tiles.tsx';

const EVERY = 30_000;
const NEWEST = 5;
const MOST = 200;

const useOf = () => {
  const { t } = useTranslation();
  return (s: Share): string =>
    t('overview.of', { used: s.used === undefined ? '\u2013' : number(s.used), limit: number(s.of) });
};

export function OperatorTiles() {
  const { t } = useTranslation();
  const { can } = useSession();
  const of = useOf();
  const fleet = useFleet({}, can('node:manage'));
  const tenants = useGet('/v1/tenants', { page_size: MOST }, { everyMs: EVERY, enabled: can('tenant:read') });
  const nodes = fleet.data?.nodes;
  const count = tenants.data?.data.length ?? 0;
  const more = tenants.data?.next_page_token !== undefined;
  return (
    <>
      <Tile label={t('overview.slotsUsed')} to="/workers">
        {nodes && of(shareOf(nodes, 'slots'))}
      </Tile>
      <Tile label={t('overview.gpusUsed')} to="/workers">
        {nodes && of(shareOf(nodes, 'gpus'))}
      </Tile>
      {can('tenant:read') && (
        <Tile label={t('overview.tenants')} to="/tenants">
          {tenants.data && (more ? t('overview.atLeast', { n: number(count) }) : number(count))}
        </Tile>
      )}
    </>
  );
}

/** Of each zone: how many of its nodes are ready, and what of their room is leased. */
function Capacity() {
  const { t } = useTranslation();
  const of = useOf();
  const fleet = useFleet({});
  const zones = (nodes: readonly Node[]): [string, Node[]][] => {
    const by = new Map<string, Node[]>();
    for (const n of nodes) by.set(n.zone!, [...(by.get(n.zone!) ?? []), n]);
    return [...by].sort(([a], [b]) => (a < b ? -1 : 1));
  };
  return (
    <Part title={t('overview.capacity')} to="/workers">
      <Answer of={fleet}>
        {({ nodes }) =>
          nodes.length === 0 ? (
            <p className="lead">{t('overview.nothingRuns')}</p>
          ) : (
            <ul className="rows">
              {zones(nodes).map(([zone, own]) => (
                <li key={zone}>
                  <span>
                    <Code>{zone}</Code> ·{' '}
                    <span className="lead">
                      {t('overview.nodesReady', { ready: number(own.filter(usable).length), n: number(own.length) })}
                    </span>
                  </span>
                  <span>
                    {t('overview.slotsUsed')}: {of(shareOf(own, 'slots'))}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </Part>
  );
}
function NewTenants() {
  const { t } = useTranslation();
  const tenants = useGet('/v1/tenants', { page_size: NEWEST }, { everyMs: EVERY });
  return (
    <Part title={t('overview.newTenants')} to="/tenants">
      <Answer of={tenants}>
        {(page) => (
          <ul className="rows">
            {page.data.map((x) => (
              <li key={x.tenant_id}>
                <To to={`/tenants/${x.tenant_id!}`}>
                  <Called of={x} />
                </To>
                <span className="row-end">
                  <State value={x.state} /> <Time at={x.created_at} ago />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Answer>
    </Part>
  );
}
export function OperatorCards() {
  const { can } = useSession();
  return (
    <>
      <Capacity />
      {can('tenant:read') && <NewTenants />}
    </>
  );
}

const SOON_DAYS = 7;
const SOON = SOON_DAYS * 86_400_000;

/** How many legal clocks are overdue, and how many will be in a week: the first that are due, of as many as a page holds. */
function LegalClocksTile() {
  const { t } = useTranslation();
  const overdue = useGet('/v1/legal-clocks', { state: 'OVERDUE', page_size: MOST }, { everyMs: EVERY });
  const open = useGet('/v1/legal-clocks', { state: 'OPEN', page_size: MOST }, { everyMs: EVERY });
  const late = overdue.data?.data.length ?? 0;
  const soon = (open.data?.data ?? []).filter((c) => Date.parse(c.due_at) - open.dataUpdatedAt <= SOON).length;
  const many = (n: number): string => (n === MOST ? t('overview.atLeast', { n: number(n) }) : number(n));
  return (
    <Tile
      label={t('overview.legalClocks')}
      to="/audit/legal-clocks"
      mood={late > 0 ? 'is-bad' : soon > 0 ? 'is-warning' : ''}
    >
      {overdue.data && open.data && (
        <small>{t('overview.legalClocksSoon', { overdue: many(late), soon: many(soon), days: SOON_DAYS })}</small>
      )}
    </Tile>
  );
}

export function OfficerTiles() {
  const { t } = useTranslation();
  const proof = useProof();
  const holds = useGet('/v1/audit/holds', { state: 'ACTIVE', page_size: MOST }, { everyMs: EVERY });
  const asked = useGet('/v1/approvals', { state: 'PENDING', page_size: MOST }, { everyMs: EVERY });
  return (
    <>
      {proof.state !== 'off' && (
        <Tile label={t('overview.proof')} to="/audit/proof" mood={proof.state === 'broken' ? 'is-bad' : ''}>
          {proof.state === 'broken' ? (
            <small>{t('shell.forked')}</small>
          ) : (
            proof.pin && (
              <small>
                <Time at={new Date(proof.pin.at).toISOString()} />
              </small>
            )
          )}
        </Tile>
      )}
      <Tile label={t('overview.holdsActive')} to="/audit/holds">
        {holds.data && number(holds.data.data.length)}
      </Tile>
      <LegalClocksTile />
      <Tile label={t('overview.asked')} to="/approvals" mood={asked.data?.data.length ? 'is-warning' : ''}>
        {asked.data && number(asked.data.data.length)}
      </Tile>
    </>
  );
}

function Rows<T>({ of, none, children }: { of: readonly T[]; none: string; children: (row: T) => ReactNode }) {
  return of.length === 0 ? <p className="lead">{none}</p> : <ul className="rows">{of.map(children)}</ul>;
}
export function OfficerCards() {
  const { t } = useTranslation();
  const holds = useGet('/v1/audit/holds', { state: 'ACTIVE', page_size: NEWEST }, { everyMs: EVERY });
  const crossings = useGet('/v1/transfers', { page_size: NEWEST }, { everyMs: EVERY });
  const exports = useGet('/v1/audit/exports', { page_size: NEWEST }, { everyMs: EVERY });
  return (
    <>
      <Part title={t('overview.holds')} to="/audit/holds">
        <Answer of={holds}>
          {(page) => (
            <Rows of={page.data} none={t('overview.noHolds')}>
              {(h) => (
                <li key={h.hold_id}>
                  <Name>{h.reason}</Name>
                  <Time at={h.created_at} ago />
                </li>
              )}
            </Rows>
          )}
        </Answer>
      </Part>
      <Part title={t('overview.crossings')} to="/evidence/transfers">
        <Answer of={crossings}>
          {(page) => (
            <Rows of={page.data} none={t('overview.noCrossings')}>
              {(x) => (
                <li key={x.transfer_id}>
                  <span>
                    <Code>{x.from_zone}</Code> → <Code>{x.to_zone}</Code>{' '}
                    <span className="lead">{t(`class.${x.data_class!}`)}</span>
                  </span>
                  <span className="row-end">
                    {bytes(x.bytes)} <Time at={x.at} ago />
                  </span>
                </li>
              )}
            </Rows>
          )}
        </Answer>
      </Part>
      <Part title={t('overview.exports')} to="/audit/exports">
        <Answer of={exports}>
          {(page) => (
            <Rows of={page.data} none={t('overview.noExports')}>
              {(x) => (
                <li key={x.export_id}>
                  <Code>{x.format}</Code>
                  <span className="row-end">
                    {x.size_bytes > 0 && bytes(x.size_bytes)} <Time at={x.created_at} ago />
                  </span>
                </li>
              )}
            </Rows>
          )}
        </Answer>
      </Part>
    </>
  );
}
