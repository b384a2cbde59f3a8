// SPDX-License-Identifier: Apache-2.0
// Passport.tsx - one data set on one sheet: where it lies and under which law and key, who read it, what crossed a border,
// what was made of it, and the seal: this browser's own check that what the log says of it stands in the signed log.
import { Button } from '@patternfly/react-core';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { bytes, number } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Called, Code, Id, Name, Pairs, State, Time, To } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer } from '../../ui/states.tsx';
import './passport.css';
import { Seal } from './Seal.tsx';
import { Sheet } from './Sheet.tsx';
import { titleOf } from '../../lib/titles.ts';

type Passport = Schemas['passport'];

function Places({ of }: { of: Passport }) {
  const { t } = useTranslation();
  const { can } = useSession();
  return (
    <Sheet
      title={t('passport.places')}
      none={t('datasets.noVersion')}
      heads={[
        t('col.version'),
        t('col.zone'),
        t('col.rows'),
        t('col.size'),
        t('passport.key'),
        t('col.digest'),
        t('passport.since'),
      ]}
      rows={of.places.map((p) => [
        number(p.version),
        <>
          <Code>{p.zone}</Code> {p.is_copy && t('passport.copy')}
        </>,
        number(p.row_count),
        bytes(p.size_bytes),
        p.key_version === 0 ? (
          t('passport.forgotten')
        ) : (
          <>
            {can('key:read') ? (
              <To to={`/keys/${p.zone}/versions/${p.key_version}`}>
                {t('keyring.versionOf', { version: number(p.key_version) })}
              </To>
            ) : (
              t('keyring.versionOf', { version: number(p.key_version) })
            )}{' '}
            <State value={p.key_state} />
          </>
        ),
        <Code key="d">{`${p.sha256.slice(0, 16)}…`}</Code>,
        <Time key="t" at={p.created_at} />,
      ])}
    />
  );
}

function Laws({ of }: { of: Passport }) {
  const { t } = useTranslation();
  return (
    <Sheet
      title={t('passport.laws')}
      none={t('passport.noLaw')}
      heads={[t('col.zone'), t('passport.regulator'), t('passport.regime'), t('zones.mayLeave'), t('passport.clause')]}
      rows={of.laws.map((l) => [
        <>
          <Code>{l.zone}</Code> <Name>{l.name}</Name>
        </>,
        <Name key="r">{l.regulator}</Name>,
        l.regime ? <Code key="g">{l.regime}</Code> : t('passport.noRule'),
        l.may_leave ? t(`zones.${l.may_leave}`) : '',
        <bdi key="c" lang="en" translate="no">
          {l.source_text}
        </bdi>,
      ])}
    />
  );
}

function Readers({ of }: { of: Passport }) {
  const { t, i18n } = useTranslation();
  const kind = (k: string): string => (i18n.exists(`passport.by_${k}`) ? t(`passport.by_${k}`) : k);
  return (
    <Sheet
      title={t('passport.readers')}
      none={t('passport.noReader')}
      heads={[
        t('passport.who'),
        t('col.kind'),
        t('passport.reads'),
        t('passport.first'),
        t('passport.last'),
        t('passport.entry'),
      ]}
      rows={of.readers.map((r) => [
        r.actor_name ? <Name key="n">{r.actor_name}</Name> : <Code key="n">{r.actor_id}</Code>,
        kind(r.actor_kind),
        number(r.reads),
        <Time key="f" at={r.first_at} />,
        <Time key="l" at={r.last_at} />,
        <To key="e" to={`/audit?resource=${of.dataset.dataset_id ?? ''}&event=${r.last_event}`}>
          {number(r.last_tseq)}
        </To>,
      ])}
    />
  );
}

function Jobs({ of }: { of: Passport }) {
  const { t } = useTranslation();
  const { can } = useSession();
  return (
    <Sheet
      title={t('passport.jobs')}
      none={t('datasets.unused')}
      heads={[
        t('col.name'),
        t('col.kind'),
        t('col.state'),
        t('col.version'),
        t('col.zone'),
        t('passport.who'),
        t('col.submitted'),
      ]}
      rows={of.jobs.map((j) => [
        can('job:read') ? (
          <To key="n" to={`/jobs/${j.job_id}`}>
            <Name>{j.name}</Name>
          </To>
        ) : (
          <Name key="n">{j.name}</Name>
        ),
        t(`kind.${j.kind}`),
        <State key="s" value={j.state} />,
        number(j.dataset_version),
        <Code key="z">{j.zone}</Code>,
        j.submitted_by_name ? <Name key="w">{j.submitted_by_name}</Name> : <Code key="w">{j.submitted_by}</Code>,
        <Time key="t" at={j.submitted_at} />,
      ])}
    />
  );
}

function Crossings({ of }: { of: Passport }) {
  const { t } = useTranslation();
  return (
    <Sheet
      title={t('passport.crossings')}
      none={t('passport.noCrossing')}
      heads={[
        t('passport.from'),
        t('passport.to'),
        t('col.version'),
        t('passport.purpose'),
        t('passport.basis'),
        t('passport.who'),
        t('col.at'),
      ]}
      rows={of.crossings.map((x) => [
        <Code key="f">{x.from_zone}</Code>,
        <Code key="t">{x.to_zone}</Code>,
        number(x.dataset_version),
        <Code key="p">{x.purpose}</Code>,
        <Code key="b">{x.legal_basis ?? x.rule}</Code>,
        x.by_name ? <Name key="w">{x.by_name}</Name> : <Code key="w">{x.by_user}</Code>,
        <Time key="a" at={x.at} />,
      ])}
    />
  );
}

function Models({ of }: { of: Passport }) {
  const { t } = useTranslation();
  const { can } = useSession();
  return (
    <Sheet
      title={t('passport.models')}
      none={t('passport.noModel')}
      heads={[t('col.name'), t('col.version'), t('passport.serves'), t('col.created')]}
      rows={of.models.map((m) => [
        can('model:read') ? (
          <To key="n" to={`/models/${m.model_id}`}>
            <Called of={m} />
          </To>
        ) : (
          <Called key="n" of={m} />
        ),
        number(m.version),
        number(m.deployments),
        <Time key="t" at={m.created_at} />,
      ])}
    />
  );
}

export function DatasetPassport() {
  const { t } = useTranslation();
  const { can } = useSession();
  const { id } = useParams({ strict: false }) as { id: string };
  const path = `/v1/datasets/${encodeURIComponent(id)}/passport` as const;
  const query = useGet(path);
  const d = query.data?.dataset;
  return (
    <Page
      name={`${t('passport.title')} ${titleOf(d)}`}
      title={
        <>
          {t('passport.title')} <Name>{titleOf(d) || id}</Name>
        </>
      }
      lead={t('passport.lead')}
      {...(can('dataset:read')
        ? {
            crumbs: [
              [t('nav.datasets'), '/datasets'],
              [titleOf(d) || id, `/datasets/${id}`],
            ],
          }
        : { crumbs: [[t('audit.passports'), '/audit/passports']] })}
      api={[`GET ${path}`, `GET /v1/audit/events?resource=${id}`]}
      cli={[`falaj api GET ${path}`]}
      actions={
        <Button className="no-print" onClick={() => print()}>
          {t('summary.print')}
        </Button>
      }
    >
      <Answer of={query}>
        {(p) => (
          <div className="passport">
            <div className="passport-head">
              <Pairs
                rows={[
                  [t('col.class'), t(`class.${p.dataset.data_class!}`)],
                  [t('col.created'), <Time key="t" at={p.dataset.created_at} />],
                  [t('col.description'), p.dataset.description && <bdi key="d">{p.dataset.description}</bdi>],
                  [t('col.id'), <Id key="i" value={p.dataset.dataset_id} />],
                ]}
              />
              <Seal id={id} readers={p.readers} />
            </div>
            {p.is_cut && <Note variant="warning" title={t('passport.cut')} />}
            <Places of={p} />
            <Laws of={p} />
            <Readers of={p} />
            <Jobs of={p} />
            <Crossings of={p} />
            <Models of={p} />
            <p className="lead">
              {t('passport.made')} <Time at={p.generated_at} /> · {t('passport.logSize', { n: number(p.log_size) })}
            </p>
          </div>
        )}
      </Answer>
    </Page>
  );
}
