// SPDX-License-Identifier: Apache-2.0
// Explorer.tsx - the log in sentences, newest first. The API reads a search from its oldest end: one that finds more than it gives
// at once is read so, page by page, and says it.
import { Button } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { getPage, withQuery } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { number, zoneLabel } from '../../lib/format.ts';
import type { Search } from '../../lib/search.ts';
import { useSession } from '../../shell/session.tsx';
import { State, Time } from '../../ui/bits.tsx';
import { Answer, Empty } from '../../ui/states.tsx';
import { EventAside } from './Event.tsx';
import { Filters, useWant } from './Filters.tsx';
import { Frame } from './frame.tsx';
import { factsOf, useKnown, useSentence } from './words.ts';

const ROWS = 50;
/** As many as the API gives at once: a search that finds fewer is known whole, and is turned round. */
const WHOLE = 200;

/** after: behind which number the page begins; the newest page asks for more rows, because the last minute has no signed head yet. */
function useEvents(query: Record<string, string>, isEmpty: boolean, after: string | undefined) {
  const head = useGet('/v1/audit/head', {}, { everyMs: 30_000 });
  const isNewest = isEmpty && after === undefined;
  const start = isNewest ? Math.max(0, (head.data?.size ?? 0) - ROWS) : Number(after ?? 0);
  const asked = { ...query, after: start, page_size: after === undefined ? WHOLE : ROWS };
  const list = useQuery({
    queryKey: ['/v1/audit/events', asked],
    queryFn: () => getPage('/v1/audit/events', asked),
    enabled: !isNewest || !head.isPending,
    placeholderData: keepPreviousData,
  });
  const isTurned = isEmpty || (after === undefined && (list.data?.data.length ?? 0) < WHOLE);
  return { list, start, isNewest, isTurned, asked };
}

export function Audit() {
  const { t } = useTranslation();
  const { can } = useSession();
  const navigate = useNavigate();
  const say = useSentence();
  const known = useKnown();
  const search = useSearch({ strict: false }) as Search;
  const { query, isEmpty } = useWant();
  const { list, start, isNewest, isTurned, asked } = useEvents(query, isEmpty, search['after']);
  const event = search['event'];
  const go = (change: Record<string, string | undefined>): void => {
    const next = Object.entries({ ...search, ...change }).filter(([, v]) => v !== undefined && v !== '');
    void navigate({ to: '.', search: Object.fromEntries(next) as never });
  };
  const close = (): void => {
    go({ event: undefined });
    setTimeout(() => document.getElementById(`e-${event}`)?.focus());
  };
  const same = new URLSearchParams(query).toString();
  const asWords = Object.fromEntries(['when', 'from', 'to'].filter((n) => search[n]).map((n) => [n, search[n]]));
  const forExport = { ...Object.fromEntries(Object.entries(search).filter(([k]) => k !== 'event')), make: '1' };
  return (
    <Frame
      part="audit.events"
      lead={t('audit.lead')}
      api={[`GET ${withQuery('/v1/audit/events', asked)}`, 'GET /v1/audit/events/{event_id}']}
      cli={['falaj audit events', 'falaj audit export log.jsonl', 'falaj audit verify log.jsonl --key ZONE-AUDIT.pem']}
      actions={
        <>
          {can('audit:export') && (
            <Link to="/audit/exports" search={forExport as never} className="pf-v6-c-button pf-m-secondary">
              {t('audit.exportThis')}
            </Link>
          )}
          <Link to="/audit/verify" search={asWords as never} className="pf-v6-c-button pf-m-secondary">
            {t('audit.verifyThis')}
          </Link>
        </>
      }
    >
      <Filters known={known}>
        {can('audit:export') && (
          <>
            <a
              className="pf-v6-c-button pf-m-link"
              href={`/v1/audit/events.csv${same && `?${same}`}`}
              download="events.csv"
            >
              {t('list.csv')}
            </a>
            <Link to="/audit/summary" search={asWords as never} className="pf-v6-c-button pf-m-link">
              {t('audit.summary')}
            </Link>
          </>
        )}
      </Filters>
      <div className={`beside${event ? ' open' : ''}`}>
        <div>
          <Answer of={list}>
            {(page) =>
              page.data.length === 0 ? (
                <Empty
                  title={isEmpty ? t('audit.empty') : t('list.noMatch')}
                  body={isEmpty ? t('audit.lead') : t('audit.noneBody')}
                  {...(isEmpty
                    ? { cli: 'falaj audit events' }
                    : {
                        action: (
                          <Button variant="link" onClick={() => void navigate({ to: '.', search: {} as never })}>
                            {t('list.clear')}
                          </Button>
                        ),
                      })}
                />
              ) : (
                <>
                  {!isTurned && start === 0 && <p className="lead">{t('audit.many', { count: WHOLE })}</p>}
                  <Table aria-label={t('nav.audit')} variant="compact" gridBreakPoint="grid-lg">
                    <Thead>
                      <Tr>
                        <Th modifier="nowrap">{t('audit.number')}</Th>
                        <Th modifier="wrap">
                          {t('col.at')} <bdi dir="ltr">{zoneLabel()}</bdi>
                        </Th>
                        <Th>{t('audit.what')}</Th>
                        <Th>{t('audit.outcome')}</Th>
                      </Tr>
                    </Thead>
                    <Tbody>
                      {(isTurned ? page.data.toReversed() : page.data).map((item) => {
                        const f = factsOf(item);
                        return (
                          <Tr key={item.tseq} className={item.event_id === event ? 'now' : ''}>
                            <Td dataLabel={t('audit.number')}>{number(item.tseq)}</Td>
                            <Td dataLabel={t('col.at')} modifier="nowrap">
                              <Time at={f.at} />
                            </Td>
                            <Td dataLabel={t('audit.what')} modifier="breakWord">
                              <Link
                                id={`e-${item.event_id}`}
                                to="."
                                className="to"
                                search={{ ...search, event: item.event_id! } as never}
                                title={[f.actorId, f.id].filter(Boolean).join(' · ')}
                              >
                                {say(f, known)}
                              </Link>
                            </Td>
                            <Td dataLabel={t('audit.outcome')}>
                              <State value={f.verdict} />
                            </Td>
                          </Tr>
                        );
                      })}
                    </Tbody>
                  </Table>
                  <nav className="pager" aria-label={t('list.pages', { what: t('nav.audit') })}>
                    <span>
                      {t('list.shown', { count: page.data.length })} ·{' '}
                      {isTurned ? t('list.newest') : t('audit.oldestFirst')}
                    </span>
                    {isEmpty ? (
                      <>
                        <Button variant="secondary" isDisabled={isNewest} onClick={() => go({ after: undefined })}>
                          {t('audit.newest')}
                        </Button>
                        <Button
                          variant="secondary"
                          isDisabled={start === 0}
                          onClick={() => go({ after: String(Math.max(0, start - ROWS)) })}
                        >
                          {t('audit.older')}
                        </Button>
                      </>
                    ) : (
                      !isTurned && (
                        <>
                          <Button variant="secondary" isDisabled={start === 0} onClick={() => go({ after: undefined })}>
                            {t('list.first')}
                          </Button>
                          <Button
                            variant="secondary"
                            isDisabled={page.data.length < asked.page_size}
                            onClick={() => go({ after: String(page.data.at(-1)!.tseq) })}
                          >
                            {t('list.next')}
                          </Button>
                        </>
                      )
                    )}
                  </nav>
                </>
              )
            }
          </Answer>
        </div>
        {event && <EventAside id={event} known={known} onClose={close} />}
      </div>
    </Frame>
  );
}
