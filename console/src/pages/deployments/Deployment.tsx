// SPDX-License-Identifier: Apache-2.0
// Deployment.tsx - one deployment: whether it answers, what it serves, how it answered lately, and the playground that asks it.
import { Title } from '@patternfly/react-core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { change } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { useLive } from '../../api/live.ts';
import { number } from '../../lib/format.ts';
import { engineOf, isWriter } from '../../lib/tensors.ts';
import { useSession } from '../../shell/session.tsx';
import { Called, Code, Id, Name, Pairs, shortId, State, Time, To } from '../../ui/bits.tsx';
import { TypedConfirm } from '../../ui/dialogs.tsx';
import { Note } from '../../ui/note.tsx';
import { Page } from '../../ui/page.tsx';
import { Answer } from '../../ui/states.tsx';
import { Figures } from './Figures.tsx';
import { Playground } from './Playground.tsx';
import { RollButton, RollState } from './Roll.tsx';

export function DeploymentDetail() {
  const { t } = useTranslation();
  const { can } = useSession();
  const { id } = useParams({ strict: false }) as { id: string };
  const navigate = useNavigate();
  const forget = useForget();
  const path = `/v1/deployments/${encodeURIComponent(id)}` as const;
  useLive(['deployments'], ['/v1/deployments']);
  const query = useGet(path, {}, { everyMs: 10_000 });
  const d = query.data;
  const model = useGet(
    `/v1/models/${encodeURIComponent(d?.model_id ?? '')}`,
    {},
    { enabled: d?.model_id !== undefined && can('model:read') },
  );
  const meta = useGet(
    `/v2/models/${encodeURIComponent(d?.name ?? '')}`,
    {},
    { enabled: d?.ready === true && can('deployment:infer') },
  );
  const writes = meta.data !== undefined && isWriter(meta.data);
  const door = d ? `/v2/models/${d.name!}/${writes ? 'generate' : 'infer'}` : '';
  const asks = writes ? `falaj generate ${d?.name ?? id} 'the water of'` : `falaj infer ${d?.name ?? id} --row 0,0,1`;
  return (
    <Page
      name={d?.name ?? t('nav.deployments')}
      title={<Name>{d?.name ?? id}</Name>}
      crumbs={[[t('nav.deployments'), '/deployments']]}
      api={[`GET ${path}`, `GET ${path}/stats`, `PATCH ${path}`, ...(d ? [`POST ${door}`] : [])]}
      cli={[
        `falaj deploy get ${d?.name ?? id}`,
        `falaj deploy roll ${d?.name ?? id} --version 0 --wait`,
        `falaj deploy stats ${d?.name ?? id}`,
        asks,
      ]}
      actions={
        d &&
        can('deployment:write') && (
          <>
            <RollButton of={d} />
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
          </>
        )
      }
    >
      <Answer of={query}>
        {(x) => (
          <>
            <RollState of={x} />
            <Pairs
              rows={[
                [t('col.state'), <State key="s" value={x.ready ? 'READY' : x.job_state} />],
                [t('deploy.replicas'), t('deploy.replicasOf', { n: number(x.ready ? 1 : 0), total: number(1) })],
                [t('col.id'), <Id key="i" value={x.deployment_id} />],
                [
                  t('col.model'),
                  <span key="m">
                    {can('model:read') ? (
                      <To to={`/models/${x.model_id!}`}>
                        {model.data ? <Called of={model.data} /> : <Code>{shortId(x.model_id)}</Code>}
                      </To>
                    ) : (
                      <Code>{shortId(x.model_id)}</Code>
                    )}{' '}
                    · {t('deploy.version', { n: number(x.model_version) })}
                  </span>,
                ],
                [
                  t('deploy.job'),
                  can('job:read') && x.job_id ? (
                    <span key="j">
                      <To to={`/jobs/${x.job_id}`}>
                        <Code>{shortId(x.job_id)}</Code>
                      </To>{' '}
                      <State value={x.job_state} />
                    </span>
                  ) : (
                    ''
                  ),
                ],
                [t('models.engine'), x.engine ? <Code key="e">{engineOf(x.engine)}</Code> : ''],
                [t('deploy.address'), <Code key="a">{door}</Code>],
                [t('col.created'), <Time key="t" at={x.created_at} />],
              ]}
            />
            <Figures of={x} cli={asks} />
            {can('deployment:infer') && (
              <>
                <Title headingLevel="h2" size="lg" className="block">
                  {t('play.title')}
                </Title>
                {x.ready ? <Playground of={x} /> : <Note title={t('play.notReady')} />}
              </>
            )}
          </>
        )}
      </Answer>
    </Page>
  );
}
