// SPDX-License-Identifier: Apache-2.0
// Model.tsx - one model: its versions with figures and digest, where each came from and where it is served.
import { Button, FormSelect, FormSelectOption, Modal, ModalBody, ModalHeader, Title } from '@patternfly/react-core';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, get, type Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { bytes, number } from '../../lib/format.ts';
import { reportOf } from '../../lib/modelreport.ts';
import { quality } from '../../lib/runs.ts';
import { engineOf } from '../../lib/tensors.ts';
import { useSession } from '../../shell/session.tsx';
import { useNames } from '../members/names.ts';
import { Called, Code, Id, Name, Pairs, shortId, State, Time, To } from '../../ui/bits.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer, Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { DeployButton } from '../deployments/Deployments.tsx';
import './models.css';
import { RegisterButton } from './Register.tsx';
import { Report } from './Report.tsx';
import { titleOf } from '../../lib/titles.ts';
import { ContentActs } from '../../ui/contentacts.tsx';

type Model = Schemas['model'];
type Version = Schemas['model_version'];
const VERSIONS_MAX = 200;

/** As the tool writes them: pixels FP32[-1,5]. */
const tensorsOf = (v: Version, side: 'inputs' | 'outputs'): string[] => {
  const all = (v.signature ?? {}) as Record<string, { name: string; datatype: string; shape: number[] }[] | undefined>;
  return (all[side] ?? []).map((x) => `${x.name} ${x.datatype}[${x.shape.join(',')}]`);
};
function Tensors({ of, side }: { of: Version; side: 'inputs' | 'outputs' }) {
  return tensorsOf(of, side).map((x) => (
    <div key={x}>
      <Code>{x}</Code>
    </div>
  ));
}

const metricsOf = (v: Version): [string, number][] =>
  Object.entries((v.metrics ?? {}) as Record<string, unknown>)
    .filter((m): m is [string, number] => typeof m[1] === 'number')
    .sort(([a], [b]) => quality(a) - quality(b));

export function ModelDetail() {
  const { t } = useTranslation();
  const { can } = useSession();
  const { id } = useParams({ strict: false }) as { id: string };
  const path = `/v1/models/${encodeURIComponent(id)}` as const;
  const query = useGet(path);
  const names = useNames();
  const m = query.data;
  return (
    <Page
      name={titleOf(m) || t('nav.models')}
      title={<Name>{titleOf(m) || id}</Name>}
      lead={m?.description && <bdi>{m.description}</bdi>}
      crumbs={[[t('nav.models'), '/models']]}
      api={[`GET ${path}`, `GET ${path}/versions`]}
      cli={[
        `falaj model show ${m?.name ?? id}`,
        `falaj model versions ${m?.name ?? id}`,
        `falaj model download ${m?.name ?? id} FILE`,
        `falaj model delete ${m?.name ?? id}`,
      ]}
      actions={
        m && (
          <>
            <RegisterButton name={m.name!} />
            {can('job:submit') && (
              <To to={`/jobs/new?model=${m.model_id!}&version=${m.latest_version!}`}>{t('models.optimise')}</To>
            )}
            <DeployButton model={m} />
            {can('model:write') && (
              <ContentActs
                of={m}
                kind="models"
                read={() => get(path)}
                save={(body, tag) => change('PATCH', path, body, { 'if-match': tag })}
                remove={() => change('DELETE', path)}
              />
            )}
          </>
        )
      }
    >
      <Answer of={query}>
        {(x) => (
          <>
            <Pairs
              rows={[
                [t('col.short'), titleOf(x) !== x.name && <Code key="n">{x.name}</Code>],
                [t('col.id'), <Id key="i" value={x.model_id} />],
                [t('datasets.by'), <Name key="b">{names.user(x.created_by ?? '')}</Name>],
                [t('col.created'), <Time key="t" at={x.created_at} />],
                [
                  t('datasets.who'),
                  can('audit:read') ? (
                    <To key="a" to={`/audit?resource=${x.model_id!}`}>
                      {t('datasets.whoRead')}
                    </To>
                  ) : (
                    ''
                  ),
                ],
              ]}
            />
            <Lineage of={x} path={path} />
            <Title headingLevel="h2" size="lg" className="block">
              {t('datasets.versions')}
            </Title>
            <ServerTable
              path={`${path}/versions`}
              label={t('datasets.versions')}
              rowKey={(v) => String(v.version)}
              columns={[
                { name: 'version', label: t('col.version'), cell: (v) => number(v.version) },
                {
                  name: 'metrics',
                  label: t('job.metrics'),
                  cell: (v) => (
                    <>
                      {metricsOf(v)
                        .slice(0, 3)
                        .map(([k, n]) => (
                          <div key={k}>
                            <Code>{`${k} ${number(n, 4)}`}</Code>
                          </div>
                        ))}
                    </>
                  ),
                },
                { name: 'size_bytes', label: t('col.size'), cell: (v) => bytes(v.size_bytes) },
                { name: 'zone', label: t('col.zone'), cell: (v) => <Code>{v.zone}</Code> },
                {
                  name: 'sha256',
                  label: t('col.digest'),
                  cell: (v) => <Code>{`${v.sha256?.slice(0, 12) ?? ''}…`}</Code>,
                },
                { name: 'created_at', label: t('col.created'), cell: (v) => <Time at={v.created_at} ago /> },
              ]}
              {...(can('model:content') || can('deployment:write')
                ? {
                    rowActions: (v: Version) => (
                      <>
                        {can('model:content') && <Weights of={x} version={v} path={path} />}{' '}
                        <DeployButton model={x} version={v.version} variant="link" />
                      </>
                    ),
                  }
                : {})}
              empty={<Empty title={t('models.empty')} body={t('models.emptyBody')} />}
            />
          </>
        )}
      </Answer>
    </Page>
  );
}

/** Weights leave the platform by this: it is said before, and recorded. */
function Weights({ of, version, path }: { of: Model; version: Version; path: string }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button variant="link" isInline onClick={() => setOpen(true)}>
        {t('act.download')}
      </Button>
      {open && (
        <Modal isOpen variant="small" onClose={() => setOpen(false)} aria-labelledby="weights-title">
          <ModalHeader title={t('models.weights')} labelId="weights-title" />
          <ModalBody>
            <p>{t('models.weightsBody', { size: bytes(version.size_bytes) })}</p>
            <p>
              {t('datasets.digest')}{' '}
              <bdi dir="ltr" className="code digest">
                {version.sha256}
              </bdi>
            </p>
            <Button
              component="a"
              href={`${path}/versions/${version.version}/content`}
              download={`${of.name!}-${version.version}.safetensors`}
              onClick={() => setOpen(false)}
            >
              {t('act.download')}
            </Button>{' '}
            <Button variant="link" onClick={() => setOpen(false)}>
              {t('act.cancel')}
            </Button>
          </ModalBody>
        </Modal>
      )}
    </>
  );
}

/** data set → job → version → deployments, for one version; all its figures stand below. */
function Lineage({ of, path }: { of: Model; path: `/v1/models/${string}` }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const [picked, setPicked] = useState<number | null>(null);
  const versions = useGet(`${path}/versions`, { page_size: VERSIONS_MAX });
  const list = versions.data?.data ?? [];
  const v = list.find((x) => x.version === picked) ?? list[0];
  const job = useGet(`/v1/jobs/${v?.job_id ?? ''}`, {}, { enabled: v?.job_id !== undefined && can('job:read') });
  const spec = (job.data?.spec ?? {}) as { dataset_id?: string; dataset_version?: number };
  const set = useGet(
    `/v1/datasets/${spec.dataset_id ?? ''}`,
    {},
    { enabled: spec.dataset_id !== undefined && can('dataset:read') },
  );
  const served = useGet('/v1/deployments', { page_size: 200 }, { enabled: can('deployment:read') });
  if (v === undefined) return null;
  const report = reportOf(job.data?.result);
  const at = (served.data?.data ?? []).filter((d) => d.model_id === of.model_id && d.model_version === v.version);
  return (
    <section aria-labelledby="lineage-title">
      <Title headingLevel="h2" size="lg" className="block" id="lineage-title">
        {t('models.lineage')}
      </Title>
      {list.length > 1 && (
        <FormSelect
          aria-label={t('col.version')}
          className="lineage-pick"
          value={String(v.version)}
          onChange={(_e, n) => setPicked(Number(n))}
        >
          {list.map((x) => (
            <FormSelectOption
              key={x.version}
              value={String(x.version)}
              label={t('datasets.version', { n: number(x.version) })}
            />
          ))}
        </FormSelect>
      )}
      <ol className="lineage">
        {set.data && (
          <li>
            <span className="lead">{t('nav.datasets')}</span>
            <To to={`/datasets/${set.data.dataset_id!}`}>
              <Called of={set.data} />
            </To>
            <span>{t('datasets.version', { n: number(spec.dataset_version) })}</span>
          </li>
        )}
        <li>
          <span className="lead">{t('models.job')}</span>
          {job.data ? (
            <To to={`/jobs/${v.job_id!}`}>
              <Name>{job.data.name}</Name>
            </To>
          ) : (
            <Code>{shortId(v.job_id)}</Code>
          )}
          {job.data && <State value={job.data.state} />}
        </li>
        <li>
          <span className="lead">{t('col.model')}</span>
          <Called of={of} />
          <span>{t('datasets.version', { n: number(v.version) })}</span>
        </li>
        <li>
          <span className="lead">{t('nav.deployments')}</span>
          {at.length === 0 && <span>{t('models.notServed')}</span>}
          {at.map((d) => (
            <span key={d.deployment_id}>
              <To to={`/deployments/${d.deployment_id!}`}>
                <Name>{d.name}</Name>
              </To>{' '}
              <State value={d.ready ? 'READY' : d.job_state} />
            </span>
          ))}
        </li>
      </ol>
      <Pairs
        rows={[
          [t('models.family'), <Code key="f">{v.family}</Code>],
          [t('models.engine'), <Code key="e">{engineOf(v.engine)}</Code>],
          [t('models.takes'), <Tensors key="t" of={v} side="inputs" />],
          [t('models.gives'), <Tensors key="g" of={v} side="outputs" />],
          [t('models.inputs'), number(v.inputs)],
          [t('models.outputs'), number(v.outputs)],
          ...metricsOf(v)
            .filter(([k]) => !report?.told.has(k))
            .map(([k, n]): [string, React.ReactNode] => [k, <span key={k}>{number(n, 5)}</span>]),
          [
            t('col.digest'),
            <bdi key="d" dir="ltr" className="code digest">
              {v.sha256}
            </bdi>,
          ],
        ]}
      />
      {report && <Report of={report} />}
    </section>
  );
}
