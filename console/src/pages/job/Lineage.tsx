// SPDX-License-Identifier: Apache-2.0
// Lineage.tsx - what a job was made from and what was made from it: data set version, job, models, deployments, in the reading direction.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { get, type Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { number } from '../../lib/format.ts';
import { makesOf, readsOf } from '../../lib/jobtypes.ts';
import { useSession } from '../../shell/session.tsx';
import { Called, Code, Name, shortId, State, To } from '../../ui/bits.tsx';
import { Answer } from '../../ui/states.tsx';
import { titleOf } from '../../lib/titles.ts';

type Job = Schemas['job'];
type Spec = { dataset_id?: string; dataset_version?: number; model_id?: string; model_version?: number };
/** The API has no list of models by job: the newest of so many models are looked through. */
const MODELS = 50;

interface Found {
  from: Schemas['model_version'] | undefined;
  made: Schemas['model_version'][];
  serving: Schemas['deployment'][];
  whole: boolean;
}
async function look(job: Job, mayModels: boolean, mayDeployments: boolean): Promise<Found> {
  const spec = (job.spec ?? {}) as Spec;
  const versions = async (id: string): Promise<Schemas['model_version'][]> =>
    (await get(`/v1/models/${id}/versions`, { page_size: 200 })).data;
  const deployments = mayDeployments ? (await get('/v1/deployments', { page_size: 200 })).data : [];
  if (readsOf(job.kind) === 'model') {
    const from =
      mayModels && spec.model_id
        ? (await versions(spec.model_id)).find((v) => v.version === spec.model_version)
        : undefined;
    return { from, made: [], serving: deployments.filter((d) => d.job_id === job.job_id), whole: true };
  }
  const models = mayModels ? await get('/v1/models', { page_size: MODELS }) : { data: [] };
  const made = (await Promise.all(models.data.map((m) => versions(m.model_id!))))
    .flat()
    .filter((v) => v.job_id === job.job_id);
  const serving = deployments.filter((d) =>
    made.some((v) => v.model_id === d.model_id && v.version === d.model_version),
  );
  return { from: undefined, made, serving, whole: models.data.length < MODELS };
}

function Stage({ title, children, none }: { title: string; children: ReactNode[]; none: string }) {
  return (
    <li>
      <h3>{title}</h3>
      {children.length > 0 ? <ul>{children}</ul> : <p className="lead">{none}</p>}
    </li>
  );
}

export function Lineage({ job }: { job: Job }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const spec = (job.spec ?? {}) as Spec;
  const set = useGet(
    `/v1/datasets/${spec.dataset_id}`,
    {},
    { enabled: spec.dataset_id !== undefined && can('dataset:read') },
  );
  const found = useQuery({
    queryKey: [`/v1/jobs/${job.job_id!}`, 'lineage', job.state],
    queryFn: () => look(job, can('model:read'), can('deployment:read')),
  });
  const version = (n: number | undefined): string => t('job.version', { n: number(n) });
  return (
    <Answer of={found}>
      {(f) => (
        <>
          <ol className="lineage" aria-label={t('job.lineage')}>
            {(readsOf(job.kind) === 'dataset' || spec.dataset_id !== undefined) && (
              <Stage title={t('job.madeFrom')} none={t('job.noData')}>
                {spec.dataset_id
                  ? [
                      <li key="set">
                        <To to={`/datasets/${spec.dataset_id}`}>
                          <Name>{titleOf(set.data) || shortId(spec.dataset_id)}</Name>
                        </To>
                        <span>{version(spec.dataset_version)}</span>
                      </li>,
                    ]
                  : []}
              </Stage>
            )}
            {readsOf(job.kind) === 'model' && (
              <Stage title={t('job.models')} none={t('job.noModel')}>
                {spec.model_id
                  ? [
                      <li key="from">
                        <To to={`/models/${spec.model_id}`}>
                          <Name>{titleOf(f.from) || shortId(spec.model_id)}</Name>
                        </To>
                        <span>{version(spec.model_version)}</span>
                        {f.from?.job_id && <To to={`/jobs/${f.from.job_id}`}>{t('job.trainedBy')}</To>}
                      </li>,
                    ]
                  : []}
              </Stage>
            )}
            <Stage title={t('job.thisJob')} none="">
              {[
                <li key="job" className="here" aria-current="true">
                  <Name>{job.name}</Name>
                  <State value={job.state} />
                </li>,
              ]}
            </Stage>
            {makesOf(job.kind) === 'model' && (
              <Stage title={t('job.models')} none={t('job.noModel')}>
                {f.made.map((v) => (
                  <li key={`${v.model_id} ${v.version}`}>
                    <To to={`/models/${v.model_id!}`}>
                      <Called of={v} />
                    </To>
                    <span>{version(v.version)}</span>
                    <Code>{v.sha256?.slice(0, 12)}</Code>
                  </li>
                ))}
              </Stage>
            )}
            {(makesOf(job.kind) === 'model' || readsOf(job.kind) === 'model') && (
              <Stage title={t('nav.deployments')} none={t('job.noDeployment')}>
                {f.serving.map((d) => (
                  <li key={d.deployment_id}>
                    <To to={`/deployments/${d.deployment_id!}`}>
                      <Name>{d.name}</Name>
                    </To>
                    <State value={d.state === 'ACTIVE' ? d.job_state : d.state} />
                  </li>
                ))}
              </Stage>
            )}
          </ol>
          {!f.whole && <p className="lead block">{t('job.someModels', { n: number(MODELS) })}</p>}
        </>
      )}
    </Answer>
  );
}
