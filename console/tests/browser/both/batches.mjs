// SPDX-License-Identifier: Apache-2.0
// batches.mjs - a table through a model, by the form's text: the job's page shows how far it is and how it ended, and gives the
// result, a row for each row.
import { readFileSync } from 'node:fs';
import { until } from '../platform.mjs';

const ROWS = 1500;

/** A small model, and rows without a label. */
export async function seed(t) {
  const rows = Array.from({ length: ROWS }, (_x, r) => [Math.sin(r).toFixed(3), Math.cos(r).toFixed(3)]);
  const upload = async (body, lines) => {
    const { dataset_id: id } = await t.tenant('POST', '/v1/datasets', body);
    await t.tenant('POST', `/v1/datasets/${id}/versions`, `${lines.join('\n')}\n`, 'text/csv');
    return id;
  };
  const learn = await upload({ name: 'batch-learn', label_column: 'label', classes: 2 }, [
    'a,b,label',
    ...rows.slice(0, 200).map(([a, b]) => `${a},${b},${Number(Number(a) > 0)}`),
  ]);
  const spec = { dataset_id: learn, hidden: [4], epochs: 1 };
  const { job_id: job } = await t.tenant('POST', '/v1/jobs', { name: 'batch-model', kind: 'train', spec });
  await until('the model', async () => (await t.tenant('GET', `/v1/jobs/${job}`)).state === 'COMPLETED');
  t.ids.batchModel = (await t.tenant('POST', '/v1/models', { name: 'batch-model', job_id: job })).model_id;
  t.ids.batchRows = await upload({ name: 'batch-rows', target: 'none' }, ['a,b', ...rows.map((r) => r.join(','))]);
}

export default [
  {
    name: 'a batch, from the form to its result',
    as: 'engineer',
    path: '/jobs/new',
    act: async (h, t) => {
      const { batchModel: model, batchRows: rows } = t.ids;
      const spec = `  model_id: ${model}\n  dataset_id: ${rows}\n  keep: [label]\n`;
      await h.page.fill('#yaml', `name: scores-${h.lang}\nkind: batch\nspec:\n${spec}`);
      h.same('the form has the kind', await h.page.inputValue('#f-kind'), 'batch');
      await h.press('submit.go');
      await h.page.waitForURL(/\/jobs\/job_[0-9a-f]{32}/);
      const id = /job_[0-9a-f]{32}/.exec(h.page.url())[0];
      const job = async () => t.tenant('GET', `/v1/jobs/${id}`);
      await until(
        'the batch ends',
        async () => !['PENDING', 'ADMITTED', 'STARTING', 'RUNNING'].includes((await job()).state),
      );
      h.same('it', (({ state, result }) => [state, result?.rows, result?.columns])(await job()), [
        'COMPLETED',
        ROWS,
        1,
      ]);
      await h.sees(h.word('job.outputs'));
      const coming = h.page.waitForEvent('download');
      await h.click('link', 'result');
      const lines = readFileSync(await (await coming).path(), 'utf8')
        .trimEnd()
        .split('\n');
      h.same('the result', [lines[0], lines.length], ['label', ROWS + 1]);
      h.must(
        lines.slice(1).every((l) => l === '0' || l === '1'),
        'the result has what is no class',
      );
      await h.go(`/jobs/${id}?tab=metrics`);
      await h.sees('rows_done');
      await h.sees('rows_per_second');
    },
  },
];
