// SPDX-License-Identifier: Apache-2.0
// Summary.tsx - a sheet for the printer: what happened in a stretch of time, counted; the head over it; and that it was verified.
import { Button } from '@patternfly/react-core';
import { useSearch } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { withQuery } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import { counter, ordered, type Counts } from '../../lib/audit-summary.ts';
import { didKey } from '../../lib/audit-actions.ts';
import { unbase64 } from '../../lib/audit-verify-hash.ts';
import { useVerification } from '../../lib/audit-verify-run.ts';
import { dateTime, number, zoneLabel } from '../../lib/format.ts';
import { getPrefs } from '../../lib/prefs.ts';
import type { Search } from '../../lib/search.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Pairs } from '../../ui/bits.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer } from '../../ui/states.tsx';
import './audit.css';
import { VerdictOf } from './Verdict.tsx';
import { numbersOf } from './Verify.tsx';
import { rangeOf } from './when.tsx';

const hijri = (at: string | undefined): string => {
  const { lang, digits } = getPrefs();
  const locale = lang === 'ar' ? `ar-SA-u-ca-islamic-umalqura-nu-${digits}` : 'en-GB-u-ca-islamic-umalqura';
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long' }).format(at ? new Date(at) : new Date());
};
async function count(path: string): Promise<Counts> {
  const response = await fetch(path, { cache: 'no-store' });
  if (!response.ok || !response.body)
    throw new Problem(response.status, (await response.json().catch(() => undefined)) as unknown);
  const { counts, rows } = counter();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return counts;
    rows.push(value);
  }
}

function Table({ title, rows, name }: { title: string; rows: [string, number][]; name: (k: string) => string }) {
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
          {rows.map(([k, n]) => (
            <tr key={k}>
              <td>
                <bdi>{name(k)}</bdi>
              </td>
              <td>{number(n)}</td>
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
  const path = withQuery('/v1/audit/events.csv', range);
  const counts = useQuery({
    queryKey: ['summary', path],
    queryFn: () => count(path),
    staleTime: Infinity,
    retry: false,
  });
  const head = useGet('/v1/audit/head');
  const keys = useGet('/v1/audit/keys');
  const { run, start, stop } = useVerification();
  const began = useRef(false);
  useEffect(() => {
    if (!keys.data || began.current) return;
    began.current = true;
    const pinned = keys.data.data.map((k) => unbase64(k.public_key ?? '')).filter((k) => k !== null);
    void numbersOf(range).then((n) => {
      if (n)
        start({
          url: withQuery('/v1/audit/export', { ...n }),
          options: { pinned, trustEmbedded: true, allowUnproved: true },
        });
    });
  }, [keys.data, range, start]);
  const day = (at: string | undefined): string => (at ? `${dateTime(at)} (${hijri(at)})` : '');
  const action = (k: string): string => (i18n.exists(didKey(k)) ? `${t(didKey(k))} (\u2066${k}\u2069)` : k);
  return (
    <Page
      name={t('audit.summary')}
      title={t('audit.summary')}
      crumbs={[[t('nav.audit'), '/audit']]}
      lead={t('summary.lead')}
      api={[`GET ${path}`, 'GET /v1/audit/head']}
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
            [t('verify.tenant'), <bdi key="t">{me.tenant}</bdi>],
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
              <Table title={t('audit.action')} rows={ordered(c.actions)} name={action} />
              <Table
                title={t('audit.outcome')}
                rows={ordered(c.outcomes)}
                name={(k) =>
                  i18n.exists(`value.${k}`) ? t(`value.${k}`) : i18n.exists(`problem.${k}`) ? t(`problem.${k}`) : k
                }
              />
              <Table
                title={t('audit.actor')}
                rows={ordered(c.actors)}
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
        <VerdictOf run={run} own byServer name="audit.jsonl" onStop={stop} />
      </div>
    </Page>
  );
}
