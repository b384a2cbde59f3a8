// SPDX-License-Identifier: Apache-2.0
// Dataset.tsx - one data set: its versions with digest and place, the first rows where this person may read them, and the jobs that use it.
import { Button, Title } from '@patternfly/react-core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { change, get, type Schemas } from '../../api/client.ts';
import { readBeginning } from '../../api/content.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { FORMATS } from '../../api/upload.ts';
import { readHead } from '../../lib/csvread.ts';
import { bytes, number } from '../../lib/format.ts';
import { convertRequest, isConvertible } from '../../lib/type_convert.ts';
import { useSession } from '../../shell/session.tsx';
import { useNames } from '../members/names.ts';
import { Code, Id, Name, Pairs, State, Time, To } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer, Empty, ServerWords, useProblemText } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import './datasets.css';
import { HEAD_ROWS, HeadTable } from './HeadTable.tsx';
import { Transfer } from './Transfer.tsx';
import { Upload } from './Upload.tsx';
import { titleOf } from '../../lib/titles.ts';
import { ContentActs } from '../../ui/contentacts.tsx';

type Dataset = Schemas['dataset'];
type Version = Schemas['dataset_version'];
const JOBS_MAX = 200;

export function DatasetDetail() {
  const { t } = useTranslation();
  const { can } = useSession();
  const { id } = useParams({ strict: false }) as { id: string };
  const path = `/v1/datasets/${encodeURIComponent(id)}` as const;
  const query = useGet(path);
  const d = query.data;
  return (
    <Page
      name={titleOf(d) || t('nav.datasets')}
      title={<Name>{titleOf(d) || id}</Name>}
      lead={d?.description && <bdi>{d.description}</bdi>}
      crumbs={[[t('nav.datasets'), '/datasets']]}
      actions={
        d && (
          <>
            {can('audit:read') && <To to={`/datasets/${d.dataset_id!}/passport`}>{t('datasets.passport')}</To>}
            {can('job:submit') && d.latest_version > 0 && (
              <To to={`/jobs/new?dataset=${d.dataset_id!}`}>{t('datasets.train')}</To>
            )}
            {can('dataset:write') && <Upload of={d} />}
            {can('dataset:write') && (
              <ContentActs
                of={d}
                kind="datasets"
                read={() => get(path)}
                save={(body, tag) => change('PATCH', path, body, { 'if-match': tag })}
                remove={() => change('DELETE', path)}
              />
            )}
          </>
        )
      }
      api={[`GET ${path}`, `GET ${path}/versions`]}
      cli={[
        `falaj dataset versions ${d?.name ?? id}`,
        `falaj dataset upload ${d?.name ?? id} FILE`,
        `falaj dataset delete ${d?.name ?? id}`,
      ]}
    >
      <Answer of={query}>{(x) => <Parts of={x} path={path} />}</Answer>
    </Page>
  );
}

function Parts({ of: x, path }: { of: Dataset; path: `/v1/datasets/${string}` }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const names = useNames();
  const mayRead = can('dataset:content');
  const mayMove = can('transfer:execute');
  return (
    <>
      <Pairs
        rows={[
          [t('col.short'), titleOf(x) !== x.name && <Code key="n">{x.name}</Code>],
          [t('col.id'), <Id key="i" value={x.dataset_id} />],
          [t('col.class'), t(`class.${x.data_class!}`)],
          [t('col.label'), <Code key="l">{x.label_column}</Code>],
          [t('datasets.target'), t(`datasets.target_${x.target!}`)],
          [t('col.classes'), number(x.classes)],
          [t('datasets.categories'), <Code key="w">{(x.category_columns ?? []).join(', ') || '–'}</Code>],
          [t('datasets.missing'), x.missing_values ? t('play.yes') : t('play.no')],
          [t('datasets.by'), <Name key="b">{names.user(x.created_by ?? '')}</Name>],
          [t('col.created'), <Time key="t" at={x.created_at} />],
          [
            t('datasets.who'),
            can('audit:read') ? (
              <To key="a" to={`/audit?resource=${x.dataset_id!}`}>
                {t('datasets.whoRead')}
              </To>
            ) : (
              ''
            ),
          ],
        ]}
      />
      <Title headingLevel="h2" size="lg" className="block">
        {t('datasets.versions')}
      </Title>
      <ServerTable
        path={`${path}/versions`}
        label={t('datasets.versions')}
        rowKey={(v) => String(v.version)}
        columns={[
          { name: 'version', label: t('col.version'), cell: (v) => number(v.version) },
          { name: 'format', label: t('datasets.format'), cell: (v) => <Code>{v.format}</Code> },
          { name: 'row_count', label: t('col.rows'), cell: (v) => number(v.row_count) },
          { name: 'column_count', label: t('col.columns'), cell: (v) => number(v.column_count) },
          { name: 'size_bytes', label: t('col.size'), cell: (v) => bytes(v.size_bytes) },
          { name: 'zone', label: t('col.zone'), cell: (v) => <Code>{v.zone}</Code> },
          { name: 'sha256', label: t('col.digest'), cell: (v) => <Code>{`${v.sha256?.slice(0, 12) ?? ''}…`}</Code> },
          {
            name: 'created_by',
            label: t('datasets.by'),
            cell: (v) => <Name>{names.user(v.created_by ?? '')}</Name>,
          },
          { name: 'created_at', label: t('col.created'), cell: (v) => <Time at={v.created_at} ago /> },
          { name: 'object_id', label: t('datasets.object'), cell: (v) => <Code>{v.object_id}</Code>, extra: true },
        ]}
        {...(mayRead || mayMove || can('job:submit')
          ? {
              rowActions: (v: Version) => (
                <span className="acts">
                  {mayRead && (
                    <a
                      href={`${path}/versions/${v.version}/content`}
                      download={`${x.name!}-${v.version}.${FORMATS[v.format!].extension}`}
                    >
                      {t('act.download')}
                    </a>
                  )}
                  {can('job:submit') && isConvertible(v) && <Convert of={x} version={v} />}
                  {mayMove && <Transfer of={x} version={v} />}
                </span>
              ),
            }
          : {})}
        empty={
          <Empty
            title={t('datasets.noVersion')}
            body={t('datasets.noVersionBody')}
            cli={`falaj dataset upload ${x.name!} FILE`}
          />
        }
      />
      {mayRead && x.latest_version > 0 && <Preview of={x} path={path} />}
      {can('job:read') && <UsedBy of={x} />}
    </>
  );
}

/** For a model file there is one job. */
function Convert({ of, version }: { of: Dataset; version: Version }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const forget = useForget();
  const words = useProblemText();
  const submit = useMutation({
    mutationFn: () => change('POST', '/v1/jobs', convertRequest(of, version)),
    onSuccess: async (job) => {
      await forget('/v1/jobs');
      await navigate({ to: `/jobs/${job.job_id!}` });
    },
  });
  return (
    <>
      {submit.isError && <Note variant="danger" title={words(submit.error)} />}
      <Button
        variant="link"
        isInline
        onClick={() => submit.mutate()}
        isLoading={submit.isPending}
        spinnerAriaValueText={t('state.loading')}
      >
        {t('datasets.convert')}
      </Button>
    </>
  );
}

/** Only when it is asked for, and only the beginning: to read content is an act that is recorded. */
function Preview({ of, path }: { of: Dataset; path: string }) {
  const { t } = useTranslation();
  const words = useProblemText();
  const read = useMutation({
    mutationFn: async () => {
      const newest = (await get(`/v1/datasets/${of.dataset_id!}/versions`, { page_size: 1 })).data[0];
      if (newest?.format !== 'csv') return null;
      const { text, whole } = await readBeginning(`${path}/versions/${of.latest_version}/content`);
      return readHead(text, whole, HEAD_ROWS);
    },
  });
  return (
    <section aria-labelledby="head-title">
      <Title headingLevel="h2" size="lg" className="block" id="head-title">
        {t('datasets.head')}
      </Title>
      {read.data === null ? (
        <p>{t('datasets.headNone')}</p>
      ) : read.data ? (
        <HeadTable head={read.data} label={of.label_column!} name={t('datasets.head')} />
      ) : (
        <>
          {read.isError && (
            <Note variant="danger" title={words(read.error)}>
              <ServerWords problem={read.error} />
            </Note>
          )}
          <Button
            variant="secondary"
            onClick={() => read.mutate()}
            isLoading={read.isPending}
            spinnerAriaValueText={t('state.loading')}
          >
            {t('datasets.showHead')}
          </Button>
          <p className="lead">{t('datasets.headBody')}</p>
        </>
      )}
    </section>
  );
}

function UsedBy({ of }: { of: Dataset }) {
  const { t } = useTranslation();
  const jobs = useGet('/v1/jobs', { page_size: JOBS_MAX });
  const using = (jobs.data?.data ?? []).filter(
    (j) => (j.spec as { dataset_id?: string } | undefined)?.dataset_id === of.dataset_id,
  );
  return (
    <section aria-labelledby="used-title">
      <Title headingLevel="h2" size="lg" className="block" id="used-title">
        {t('datasets.usedBy')}
      </Title>
      <p className="lead">{t('datasets.usedOf', { max: number(JOBS_MAX) })}</p>
      <Answer of={jobs}>
        {() =>
          using.length === 0 ? (
            <p>{t('datasets.unused')}</p>
          ) : (
            <ul className="rows">
              {using.slice(0, 20).map((j) => (
                <li key={j.job_id}>
                  <span>
                    <To to={`/jobs/${j.job_id!}`}>
                      <Name>{j.name}</Name>
                    </To>{' '}
                    <State value={j.state} />
                  </span>
                  <Time at={j.submitted_at} ago />
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </section>
  );
}
