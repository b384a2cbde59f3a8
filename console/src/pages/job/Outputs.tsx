// SPDX-License-Identifier: Apache-2.0
// Outputs.tsx - what a completed job left, by name; reading a content is recorded.
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { bytes } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code } from '../../ui/bits.tsx';

/** Nothing where it left nothing: most kinds make a model or no content at all. */
export function Outputs({ job }: { job: Schemas['job'] }) {
  const { t } = useTranslation();
  const { can } = useSession();
  const path = `/v1/jobs/${encodeURIComponent(job.job_id!)}/outputs` as const;
  const list = useGet(path, {}, { enabled: job.state === 'COMPLETED' });
  if (!list.data || list.data.data.length === 0) return null;
  return (
    <>
      <h2 className="block">{t('job.outputs')}</h2>
      <ul className="plain-list">
        {list.data.data.map((o) => (
          <li key={o.name}>
            {can('job:content') && o.kind === 'artifact' ? (
              <a href={`${path}/${encodeURIComponent(o.name!)}`} download={`${job.name!}-${o.name!}`}>
                <Code>{o.name}</Code>
              </a>
            ) : (
              <Code>{o.name}</Code>
            )}{' '}
            · {bytes(o.size_bytes)} ·{' '}
            <bdi dir="ltr" className="code digest">
              {o.sha256}
            </bdi>
          </li>
        ))}
      </ul>
    </>
  );
}
