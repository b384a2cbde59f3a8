// SPDX-License-Identifier: Apache-2.0
// acts.tsx - what may be done to a machine in its state; each act says first what it does to the work that is there. Shutting one
// out moves work and wants the name typed; the others can be taken back and want a reason alone.
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../../api/client.ts';
import { useForget } from '../../api/hooks.ts';
import { FormButton, TypedConfirm } from '../../ui/dialogs.tsx';
import { toast } from '../../ui/toast.tsx';
import type { Node } from './data.ts';

type Act = 'drain' | 'undrain' | 'quarantine' | 'release';
const ACTS: Record<string, Act[]> = {
  READY: ['drain', 'quarantine'],
  DRAINING: ['undrain', 'quarantine'],
  LOST: ['quarantine'],
  QUARANTINED: ['release'],
};

/** preview: what runs there, drawn in the dialogs of the acts that touch it. */
export function NodeActs({ node, preview }: { node: Node; preview?: ReactNode }) {
  const { t } = useTranslation();
  const forget = useForget();
  const take = async (act: Act, reason: string): Promise<void> => {
    const out = await change('POST', `/v1/nodes/${node.node_id!}/${act}`, { reason });
    toast(t(`workers.${act}Done`, { name: `\u2068${node.name ?? ''}\u2069`, count: out.jobs_running }));
    await forget('/v1/nodes');
  };
  return (
    <div className="acts">
      {(ACTS[node.state!] ?? []).map((act) =>
        act !== 'quarantine' ? (
          <FormButton
            key={act}
            variant="secondary"
            label={t(`workers.${act}`)}
            title={t(`workers.${act}Of`, { name: `\u2068${node.name ?? ''}\u2069` })}
            {...(act === 'drain' ? { size: 'medium' as const } : {})}
            lead={
              <div className="effect">
                <p>{t(`workers.${act}Effect`)}</p>
                {act === 'drain' && preview}
              </div>
            }
            fields={[{ name: 'reason', label: t('confirm.reason'), kind: 'area', required: true, max: 512 }]}
            onSubmit={(v) => take(act, String(v['reason']))}
          />
        ) : (
          <TypedConfirm
            key={act}
            variant="secondary"
            reason
            label={t(`workers.${act}`)}
            title={t(`workers.${act}`)}
            name={node.name ?? ''}
            effect={
              <>
                <p>{t(`workers.${act}Effect`)}</p>
                {preview}
              </>
            }
            onConfirm={(reason) => take(act, reason)}
          />
        ),
      )}
    </div>
  );
}
