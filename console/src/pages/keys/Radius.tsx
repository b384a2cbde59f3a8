// SPDX-License-Identifier: Apache-2.0
// Radius.tsx - what hangs on one version of a key, and a rehearsal: what rotating, disabling or destroying it would stop,
// before anybody asks for it. Nothing is changed here but by the acts at the end, which are those of the list of versions.
import { ToggleGroup, ToggleGroupItem } from '@patternfly/react-core';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { bytes, number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Called, Code, Pairs, State, Time, To } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer } from '../../ui/states.tsx';
import { Word } from './pieces.tsx';
import { VersionActs } from './Versions.tsx';

type Impact = Schemas['key_impact'];
type Thing = Schemas['key_thing'];
const PLACES: Record<string, [place: string, permission: string]> = {
  dataset: ['/datasets', 'dataset:read'],
  model: ['/models', 'model:read'],
  deployment: ['/deployments', 'deployment:read'],
  job: ['/jobs', 'job:read'],
  shared: ['/shared-environments', 'environment:shared'],
};

const endOf = (v: Schemas['key_version']): string | undefined => v.destroyed_at ?? v.destroy_after ?? v.disabled_at;

/** The things of each kind that have names, in the order of the answer, and for the others how many. */
export function kinds(things: readonly Thing[]): { kind: string; count: number }[] {
  const sums = new Map<string, number>();
  for (const x of things) sums.set(x.kind, (sums.get(x.kind) ?? 0) + (x.id ? 1 : x.objects));
  return [...sums].map(([kind, count]) => ({ kind, count }));
}

function Things({ of, stops }: { of: readonly Thing[]; stops: string }) {
  const { t } = useTranslation();
  const { can } = useSession();
  if (of.length === 0) return <p>{t('keyring.hangsNothing')}</p>;
  return (
    <div className="wide-table scroll" role="region" aria-label={t('keyring.hangs')} tabIndex={0}>
      <table className="hangs">
        <thead>
          <tr>
            <th scope="col">{t('col.kind')}</th>
            <th scope="col">{t('col.name')}</th>
            <th scope="col">{t('keyring.objects')}</th>
            <th scope="col">{t('col.size')}</th>
            <th scope="col">{t('keyring.then')}</th>
          </tr>
        </thead>
        <tbody>
          {of.map((x) => {
            const [place, permission] = PLACES[x.kind] ?? ['', ''];
            return (
              <tr key={x.id ?? x.kind}>
                <td>{t(`keyring.hung_${x.kind}_name`)}</td>
                <td>
                  {x.id && can(permission) ? (
                    <To to={`${place}/${x.id}`}>
                      <Called of={x} />
                    </To>
                  ) : (
                    <Called of={x} />
                  )}
                </td>
                <td>{number(x.objects)}</td>
                <td>{x.bytes > 0 && bytes(x.bytes)}</td>
                <td>{t(stops === 'nothing' ? 'keyring.goesOn' : `keyring.${x.kind}_${stops}`)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Rehearsal({ of }: { of: Impact }) {
  const { t } = useTranslation();
  const [act, setAct] = useState('disable');
  const would = of.acts.find((a) => a.act === act);
  if (!would) return null;
  const held = of.things.length > 0;
  const variant = would.stops === 'nothing' || !held ? 'success' : would.stops === 'forever' ? 'danger' : 'warning';
  return (
    <section aria-labelledby="rehearse-title">
      <h2 className="block" id="rehearse-title">
        {t('keyring.rehearse')}
      </h2>
      <p className="lead">{t('keyring.rehearseBody')}</p>
      <ToggleGroup aria-label={t('keyring.rehearse')} className="block">
        {of.acts.map((a) => (
          <ToggleGroupItem
            key={a.act}
            text={t(`keyring.act_${a.act}`)}
            buttonId={`act-${a.act}`}
            isSelected={a.act === act}
            onChange={() => setAct(a.act)}
          />
        ))}
      </ToggleGroup>
      <div role="status" className="rehearsed">
        <Note variant={variant} title={t(held ? `keyring.stops_${would.stops}` : 'keyring.hangsNothing')}>
          {held && would.stops !== 'nothing' && (
            <ul>
              {kinds(of.things).map(({ kind, count }) => (
                <li key={kind}>{t(`keyring.count_${kind}`, { count, n: number(count) })}</li>
              ))}
            </ul>
          )}
          {would.act === 'rotate' && <p>{t('keyring.wouldMove', { count: would.moves, n: number(would.moves) })}</p>}
          {would.act === 'destroy' && (
            <p>{t('keyring.wouldWait', { count: of.destroy_days, n: number(of.destroy_days) })}</p>
          )}
          {would.act === 'destroy' && held && <p>{t('keyring.backups')}</p>}
          {would.takes_approval && <p>{t('keyring.takesTwo')}</p>}
        </Note>
        {!would.allowed && (
          <Note title={t('keyring.notNow')}>
            <bdi lang="en" dir="ltr" translate="no">
              {would.why}
            </bdi>
          </Note>
        )}
      </div>
      <h2 className="block">{t('keyring.hangs')}</h2>
      {of.is_cut && <Note variant="warning" title={t('keyring.hangsCut', { n: number(of.things.length) })} />}
      <Things of={of.things} stops={would.stops} />
    </section>
  );
}

export function KeyRadius() {
  const { t } = useTranslation();
  const { zone, version } = useParams({ strict: false }) as { zone: string; version: string };
  const path = `/v1/keys/${encodeURIComponent(zone)}` as const;
  const at = `${path}/versions/${encodeURIComponent(version)}/impact` as const;
  const query = useGet(at);
  const name = t('keyring.versionOf', { version });
  return (
    <Page
      name={`${name} · ${zone}`}
      title={
        <>
          {name} · <Code>{zone}</Code>
        </>
      }
      lead={t('keyring.radiusLead')}
      crumbs={[
        [t('nav.keys'), '/keys'],
        [zone, `/keys/${zone}`],
      ]}
      api={[`GET ${at}`]}
      cli={[`falaj api GET ${at}`]}
    >
      <Answer of={query}>
        {(k) => (
          <>
            <Pairs
              rows={[
                [t('col.state'), <State key="s" value={k.key.state} />],
                [t('keyring.dataKeys'), number(k.key.data_keys)],
                [t('keyring.origin'), <Word key="o" of="origin" value={k.key.origin} />],
                [t('keyring.tier'), <Word key="t" of="tier" value={k.key.tier} />],
                [t('col.created'), <Time key="c" at={k.key.created_at} />],
                [t('keyring.end'), endOf(k.key) && <Time key="e" at={endOf(k.key)} />],
              ]}
            />
            <Rehearsal of={k} />
            <div className="block no-print">
              <VersionActs v={k.key} path={path} />
            </div>
          </>
        )}
      </Answer>
    </Page>
  );
}
