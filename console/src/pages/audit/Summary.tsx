// SPDX-License-Identifier: Apache-2.0
// Summary.tsx - a sheet for the printer: what happened in a stretch of time, counted; the head over it; and that it was verified.
import { Button } from '@patternfly/react-core';
import { useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { withQuery, type Schemas } from '../../api/client.ts';
import { didKey } from '../../lib/audit-actions.ts';
import { unbase64 } from '../../lib/audit-verify-hash.ts';
import { useVerification } from '../../lib/audit-verify-run.ts';
import { dateTime, number, zoneLabel } from '../../lib/format.ts';
import { getPrefs } from '../../lib/prefs.ts';
import type { Search } from '../../lib/search.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Pairs } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer } from '../../ui/states.tsx';
import './audit.css';
import { VerdictOf } from './Verdict.tsx';
import { numbersOf } from './Verify.tsx';
import { rangeOf } from './when.tsx';
import { organisationOf } from '../../lib/titles.ts';

const hijri = (at: string | undefined): string => {
  const { lang, digits } = getPrefs();
  const locale = lang === 'ar' ? `ar-SA-u-ca-islamic-umalqura-nu-${digits}` : 'en-GB-u-ca-islamic-umalqura';
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long' }).format(at ? new Date(at) : new Date());
};
interface Counted {
  title: string;
  rows: readonly Schemas['audit_count'][];
  name: (k: string) => string;
}
function Table({ title, rows, name }: Counted) {
  const { t } = useTranslation();
  return (
    <>
      <h2 className="block">{title}</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('col.name')}</th>
            <th scope="col">{t('summary.count')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <tr key={r.name ?? ''}>
              <td>
                <bdi>{r.name ? name(r.name) : t('summary.others')}</bdi>
              </td>
              <td>{number(r.events)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

export function Summary() {
  const { t, i18n } = useTranslation();
  const { me } = useSession();
  const s = useSearch({ strict: false }) as Search;
  const { when = '', from = '', to = '' } = s;
  const range = useMemo(() => rangeOf({ when, from, to }), [when, from, to]);
  const counts = useGet('/v1/audit/summary', range);
  const head = useGet('/v1/audit/head');
  const keys = useGet('/v1/audit/keys');
  const { run, start, stop } = useVerification();
  const [began, setBegan] = useState(false);
  // The entries themselves come to this browser then: that is an export, and recorded as one. Looking at the sheet is a reading.
  const verify = (): void => {
    setBegan(true);
    const pinned = (keys.data?.data ?? []).map((k) => unbase64(k.public_key ?? '')).filter((k) => k !== null);
    void numbersOf(range).then((n) => {
      if (n)
        start({
          url: withQuery('/v1/audit/export', { ...n }),
          options: { pinned, trustEmbedded: true, allowUnproved: true },
        });
    });
  };
  const day = (at: string | undefined): string => (at ? `${dateTime(at)} (${hijri(at)})` : '');
  const action = (k: string): string => (i18n.exists(didKey(k)) ? `${t(didKey(k))} (\u2066${k}\u2069)` : k);
  return (
    <Page
      name={t('audit.summary')}
      title={t('audit.summary')}
      crumbs={[[t('nav.audit'), '/audit']]}
      lead={t('summary.lead')}
      api={[`GET ${withQuery('/v1/audit/summary', range)}`, 'GET /v1/audit/head']}
      cli={['falaj audit csv events.csv', 'falaj audit export summary.md --format summary']}
      actions={
        <Button className="no-print" onClick={() => print()}>
          {t('summary.print')}
        </Button>
      }
    >
      <div className="sheet">
        <Pairs
          rows={[
            [t('verify.tenant'), <bdi key="t">{organisationOf(me)}</bdi>],
            [t('summary.made'), day(new Date().toISOString())],
            [t('when.from'), day(range.from) || t('summary.begin')],
            [t('when.to'), day(range.to) || t('summary.now')],
            [t('summary.zone'), <Code key="z">{zoneLabel()}</Code>],
          ]}
        />
        <Answer of={counts}>
          {(c) => (
            <>
              <p className="counted">{t('summary.events', { count: c.events })}</p>
              {c.is_cut && <Note variant="warning" title={t('summary.cut')} />}
              <Table title={t('audit.action')} rows={c.actions} name={action} />
              <Table
                title={t('audit.outcome')}
                rows={c.outcomes}
                name={(k) =>
                  i18n.exists(`value.${k}`) ? t(`value.${k}`) : i18n.exists(`problem.${k}`) ? t(`problem.${k}`) : k
                }
              />
              <Table
                title={t('audit.actor')}
                rows={c.actors}
                name={(k) => (i18n.exists(`audit.by_${k}`) ? t(`audit.by_${k}`) : k)}
              />
            </>
          )}
        </Answer>
        <h2 className="block">{t('heads.newest')}</h2>
        <Answer of={head}>
          {(h) => (
            <Pairs
              rows={[
                [t('audit.size'), number(h.size)],
                [t('audit.root'), <Code key="r">{h.root}</Code>],
                [t('audit.key'), <Code key="k">{h.key_id}</Code>],
              ]}
            />
          )}
        </Answer>
        <h2 className="block">{t('summary.verified')}</h2>
        {began ? (
          <VerdictOf run={run} own byServer name="audit.jsonl" onStop={stop} />
        ) : (
          <div className="no-print">
            <p className="lead">{t('summary.verifyLead')}</p>
            <Button variant="secondary" isDisabled={!keys.data} onClick={verify}>
              {t('summary.verify')}
            </Button>
          </div>
        )}
      </div>
    </Page>
  );
}
