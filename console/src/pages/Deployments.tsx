// SPDX-License-Identifier: Apache-2.0
// Deployments.tsx - what is served: the list, one deployment, and the playground that asks it.
import { Alert, Title } from '@patternfly/react-core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, withQuery, type Schemas } from '../api/client.ts';
import { useForget, useGet } from '../api/hooks.ts';
import { number } from '../lib/format.ts';
import { useSession } from '../shell/session.tsx';
import { Code, Id, Json, Name, Pairs, shortId, State, Time, To } from '../ui/bits.tsx';
import { TypedConfirm } from '../ui/dialogs.tsx';
import { ApiForm, type Field } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { Answer, Empty } from '../ui/states.tsx';
import { ServerTable, useListSearch } from '../ui/table.tsx';

type Deployment = Schemas['deployment'];
interface Tensor {
  name: string;
  datatype: string;
  shape: number[];
  data?: (number | string)[];
}
interface Meta {
  name: string;
  versions?: string[];
  platform?: string;
  inputs: Tensor[];
  outputs: Tensor[];
}

export function Deployments() {
  const { t } = useTranslation();
  return (
    <Page
      name={t('nav.deployments')}
      title={t('nav.deployments')}
      api={[`GET ${withQuery('/v1/deployments', useListSearch())}`]}
      cli={['falaj deploy list', 'falaj deploy create NAME MODEL --wait']}
    >
      <ServerTable<Deployment>
        path="/v1/deployments"
        label={t('nav.deployments')}
        rowKey={(d) => d.deployment_id!}
        columns={[
          {
            name: 'name',
            label: t('col.name'),
            cell: (d) => (
              <To to={`/deployments/${d.deployment_id!}`}>
                <Name>{d.name}</Name>
              </To>
            ),
          },
          { name: 'state', label: t('col.state'), cell: (d) => <State value={d.ready ? 'READY' : d.job_state} /> },
          {
            name: 'model_id',
            label: t('col.model'),
            cell: (d) => (
              <To to={`/models/${d.model_id!}`}>
                <Code>{shortId(d.model_id)}</Code>
              </To>
            ),
          },
          { name: 'model_version', label: t('col.version'), cell: (d) => number(d.model_version) },
          { name: 'created_at', label: t('col.created'), cell: (d) => <Time at={d.created_at} ago /> },
        ]}
        empty={
          <Empty
            title={t('deploy.empty')}
            body={t('deploy.emptyBody')}
            action={<To to="/models">{t('nav.models')}</To>}
            cli="falaj deploy create NAME MODEL --wait"
          />
        }
      />
    </Page>
  );
}

/** A row of numbers for the model's input, the answer with its time, and the whole exchange below it. */
function Playground({ name }: { name: string }) {
  const { t } = useTranslation();
  const path = `/v2/models/${encodeURIComponent(name)}`;
  const meta = useGet<Meta>(path);
  const [out, setOut] = useState<{ answer: { outputs: Tensor[] }; ms: number } | null>(null);
  return (
    <Answer of={meta}>
      {(m) => {
        const input = m.inputs[0]!;
        const width = input.shape.at(-1) ?? 1;
        const fields: Field[] = [
          {
            name: 'row',
            label: t('play.row', { count: width }),
            kind: 'area',
            required: true,
            help: t('play.rowHelp'),
          },
        ];
        return (
          <div className="split">
            <ApiForm
              fields={fields}
              submit={t('play.ask')}
              initial={{ row: Array(width).fill('0').join(',') }}
              onSubmit={async (v) => {
                const data = String(v['row'])
                  .split(/[\s,،;]+/)
                  .filter((x) => x !== '')
                  .map(Number);
                const started = performance.now();
                const answer = await change<{ outputs: Tensor[] }>('POST', `${path}/infer`, {
                  inputs: [{ name: input.name, datatype: input.datatype, shape: [1, data.length], data }],
                });
                setOut({ answer, ms: performance.now() - started });
              }}
            />
            <div aria-live="polite">
              {out && (
                <>
                  <p className="lead">{t('play.took', { ms: number(out.ms, 0) })}</p>
                  <Json value={out.answer.outputs} label={t('play.answer')} />
                </>
              )}
              {!out && <p className="lead">{t('play.body')}</p>}
            </div>
          </div>
        );
      }}
    </Answer>
  );
}

export function DeploymentDetail() {
  const { t } = useTranslation();
  const { can } = useSession();
  const { id } = useParams({ strict: false }) as { id: string };
  const navigate = useNavigate();
  const forget = useForget();
  const path = `/v1/deployments/${encodeURIComponent(id)}`;
  const query = useGet<Deployment>(path, {}, { everyMs: 5000 });
  const d = query.data;
  return (
    <Page
      name={d?.name ?? t('nav.deployments')}
      title={<Name>{d?.name ?? id}</Name>}
      crumbs={[[t('nav.deployments'), '/deployments']]}
      api={[`GET ${path}`, ...(d ? [`POST /v2/models/${d.name!}/infer`] : [])]}
      cli={[`falaj deploy get ${d?.name ?? id}`, `falaj infer ${d?.name ?? id} --row 0,0,1`]}
      actions={
        d &&
        can('deployment:write') && (
          <TypedConfirm
            label={t('deploy.delete')}
            title={t('deploy.deleteTitle')}
            name={d.name ?? ''}
            effect={t('deploy.deleteEffect')}
            onConfirm={async () => {
              await change('DELETE', path);
              await forget('/v1/deployments');
              await navigate({ to: '/deployments' });
            }}
          />
        )
      }
    >
      <Answer of={query}>
        {(x) => (
          <>
            <Pairs
              rows={[
                [t('col.state'), <State key="s" value={x.ready ? 'READY' : x.job_state} />],
                [t('col.id'), <Id key="i" value={x.deployment_id} />],
                [
                  t('col.model'),
                  <To key="m" to={`/models/${x.model_id!}`}>
                    <Code>{shortId(x.model_id)}</Code>
                  </To>,
                ],
                [t('col.version'), number(x.model_version)],
                [
                  t('models.job'),
                  can('job:read') && x.job_id ? (
                    <To key="j" to={`/jobs/${x.job_id}`}>
                      <Code>{shortId(x.job_id)}</Code>
                    </To>
                  ) : (
                    ''
                  ),
                ],
                [t('col.created'), <Time key="t" at={x.created_at} />],
              ]}
            />
            {can('deployment:infer') && (
              <>
                <Title headingLevel="h2" size="lg" className="block">
                  {t('play.title')}
                </Title>
                {x.ready ? <Playground name={x.name!} /> : <Alert isInline variant="info" title={t('play.notReady')} />}
              </>
            )}
          </>
        )}
      </Answer>
    </Page>
  );
}
