// SPDX-License-Identifier: Apache-2.0
// sample.ts - a row of the data that the served model was trained on: from deployment to model version, job, data set and the beginning of
// its content. The beginning is read once for a visit; the reading is an event of the audit log.
import { useRef } from 'react';
import { get, type Schemas } from '../../api/client.ts';
import { readBeginning } from '../../api/content.ts';
import { Problem } from '../../api/problem.ts';
import { readHead, type Head } from '../../lib/csvread.ts';
import { useSession } from '../../shell/session.tsx';

const ROWS_MAX = 500;
const VERSIONS_MAX = 200; // an older one has no rows to offer here

export interface Sample {
  row: string[];
  label: string;
  of: number;
}
async function load(d: Schemas['deployment']): Promise<{ head: Head; label: number }> {
  const page = await get(`/v1/models/${d.model_id!}/versions`, { page_size: VERSIONS_MAX });
  const version = page.data.find((v) => v.version === d.model_version);
  if (!version) throw new Problem(404, undefined);
  const job = await get(`/v1/jobs/${version.job_id!}`);
  const spec = (job.spec ?? {}) as { dataset_id?: string; dataset_version?: number; label_column?: string };
  const path = `/v1/datasets/${spec.dataset_id ?? ''}/versions/${spec.dataset_version ?? 0}/content` as const;
  const { text, whole } = await readBeginning(path);
  const head = readHead(text, whole, ROWS_MAX);
  return { head, label: head.names.indexOf(spec.label_column ?? 'label') };
}

/** null: this person may not read the data, or not see the way to it. */
export function useSample(d: Schemas['deployment']): (() => Promise<Sample>) | null {
  const { can } = useSession();
  const kept = useRef<Promise<{ head: Head; label: number }> | null>(null);
  if (!['dataset:content', 'job:read', 'model:read'].every(can)) return null;
  return async () => {
    kept.current ??= load(d).catch((e: unknown) => {
      kept.current = null;
      throw e;
    });
    const { head, label } = await kept.current;
    const row = head.rows[Math.floor(Math.random() * head.rows.length)] ?? [];
    return { row: row.filter((_v, i) => i !== label), label: row[label] ?? '', of: head.rows.length };
  };
}
