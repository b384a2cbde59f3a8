// SPDX-License-Identifier: Apache-2.0
// names.mjs - things are called by their names in the reader's language, set by dialogs, found by search, said by the
// audit log.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settled } from '../checks.mjs';
import { until } from '../platform.mjs';

const CALLED = {
  en: { tenant: 'Palm Bank of Dubai', set: 'Claims of spring', model: 'Claims reader', project: 'Fraud desk' },
  ar: { tenant: 'بنك النخيل في دبي', set: 'مطالبات الربيع', model: 'قارئ المطالبات', project: 'مكتب الاحتيال' },
};
const names = (what) => ({ display_name: CALLED.en[what], display_name_ar: CALLED.ar[what] });

const SHOWN = { en: ['Ward letters', 'Ward model'], ar: ['رسائل الأجنحة', 'نموذج الأجنحة'] };
/** A data set with content and a model made of it, both with names: what pages about something else name in passing. */
async function shown(t) {
  const called = (i) => ({ display_name: SHOWN.en[i], display_name_ar: SHOWN.ar[i] });
  const body = { name: 'ward-letters', label_column: 'label', classes: 10, ...called(0) };
  const { dataset_id: id } = await t.tenant('POST', '/v1/datasets', body);
  const rows = readFileSync(join(t.root, 'datasets/digits/digits.csv'), 'utf8');
  await t.tenant('POST', `/v1/datasets/${id}/versions`, rows, 'text/csv');
  const spec = { dataset_id: id, hidden: [8], epochs: 1, seed: 3 };
  const job = await t.tenant('POST', '/v1/jobs', { name: 'wards', kind: 'train', spec });
  await until('the job', async () => (await t.tenant('GET', `/v1/jobs/${job.job_id}`)).state === 'COMPLETED');
  const model = await t.tenant('POST', '/v1/models', { name: 'ward-model', job_id: job.job_id });
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${t.tenantToken}`,
    'if-match': `"v${model.version}"`,
  };
  const init = { method: 'PATCH', headers, body: JSON.stringify(called(1)) };
  const r = await fetch(`${t.base}/v1/models/${model.model_id}`, init);
  if (!r.ok) throw new Error(`the model keeps its name: ${r.status} ${await r.text()}`);
  Object.assign(t.ids, { wards: id, wardModel: model.model_id });
}

export async function seed(t) {
  const set = await t.tenant('POST', '/v1/datasets', {
    name: 'q2-claims',
    label_column: 'y',
    classes: 2,
    ...names('set'),
  });
  await t.tenant('POST', '/v1/projects', { name: 'fraud-desk', ...names('project') });
  t.ids.named = set.dataset_id;
  await shown(t);
  await until('the event', async () => {
    const page = await t.tenant('GET', `/v1/audit/events?resource=${set.dataset_id}&page_size=5`);
    return page.data.some((e) => e.action === 'dataset.create');
  });
}

/** Sets both names by the dialog of the page, first to others, for each turn to change something. */
async function rename(h, button, what) {
  await h.press(button);
  const turn = h.lang === 'en' ? ' x' : '';
  const all = names(what);
  await h.submit({ display_name: `${all.display_name}${turn}`, display_name_ar: `${all.display_name_ar}${turn}` });
  await h.page.getByText(`${CALLED[h.lang][what]}${turn}`, { exact: true }).first().waitFor();
  await h.press(button);
  await h.submit(all);
  await h.page.getByText(CALLED[h.lang][what], { exact: true }).first().waitFor();
}
/** The head of the page says whose it is. */
const masthead = (h) => h.page.locator('.who bdi').first().innerText();

export default [
  {
    name: 'names of what hangs on a key',
    as: 'admin',
    path: (ids) => `/keys/${ids.zone}/versions/1`,
    act: async (h) => {
      for (const name of SHOWN[h.lang]) await h.page.locator('.hangs').getByText(name, { exact: true }).waitFor();
      h.must((await h.page.locator('.hangs').getByText('ward-letters').count()) === 0, 'the short name stands there');
    },
  },
  {
    name: 'names of what was made of a data set',
    as: 'compliance',
    path: (ids) => `/datasets/${ids.wards}/passport`,
    act: async (h) => {
      h.must((await h.page.locator('#page-title').innerText()).includes(SHOWN[h.lang][0]), 'another title');
      await h.page.locator('.passport').getByText(SHOWN[h.lang][1], { exact: true }).waitFor();
    },
  },
  {
    name: 'names of what a change would touch',
    as: 'admin',
    path: '/residency/what-if',
    act: async (h) => {
      await h.page.locator('form [name=about]').selectOption('class internal');
      await h.press('whatif.try');
      await h.page.locator('.whatif-result tbody').getByText(SHOWN[h.lang][0], { exact: true }).first().waitFor();
    },
  },
  {
    name: 'names of the organisation',
    as: 'admin',
    path: '/settings',
    act: async (h, t) => {
      await rename(h, 'settings.renameTenant', 'tenant');
      await h.page.locator('.who', { hasText: CALLED[h.lang].tenant }).waitFor();
      await h.page.goto(`${t.base}/`);
      await settled(h.page);
      h.must((await masthead(h)) === CALLED[h.lang].tenant, `the head says ${await masthead(h)}`);
    },
  },
  {
    name: 'names of a data set',
    as: 'admin',
    path: (ids) => `/datasets/${ids.named}`,
    act: async (h, t) => {
      await rename(h, 'act.rename', 'set');
      const { set } = CALLED[h.lang];
      h.must((await h.page.locator('#page-title').innerText()) === set, 'the title is another name');
      h.must(await h.page.getByText('q2-claims', { exact: true }).count(), 'the short name is not there');
      await h.page.goto(`${t.base}/datasets?q=${encodeURIComponent(set)}`);
      await h.page.getByRole('link', { name: set, exact: true }).waitFor();
      await h.page.keyboard.press('Control+k');
      await h.page.fill('.palette-input', set.slice(2));
      await h.page.getByRole('option', { name: set, exact: true }).waitFor();
    },
  },
  {
    name: 'names of a model',
    as: 'admin',
    path: (ids) => `/models/${ids.model}`,
    act: async (h) => {
      await rename(h, 'act.rename', 'model');
      h.must((await h.page.locator('#page-title').innerText()) === CALLED[h.lang].model, 'the title is another name');
    },
  },
  {
    name: 'names of a project',
    as: 'engineer',
    path: '/jobs/new',
    act: async (h) => {
      const all = await h.page.locator('select option').allInnerTexts();
      h.must(all.includes(CALLED[h.lang].project), `the form offers ${all.join(', ')}`);
    },
  },
  {
    name: 'names of projects in questions and forms',
    as: 'admin',
    path: '/members?tab=why',
    act: async (h, t) => {
      const named = CALLED[h.lang].project;
      const offered = async (at) =>
        h.page.locator(`${at} option`, { hasText: named }).first().waitFor({ state: 'attached' });
      await offered('#why-project');
      for (const [path, key] of [
        ['/queues?new=queue', 'queues.declare'],
        ['/secrets?new=secret', 'secrets.add'],
      ]) {
        await h.page.goto(`${t.base}${path}`);
        await h.page.getByRole('dialog').locator('form').waitFor();
        h.must(await h.page.getByRole('dialog').getByText(h.word(key)).count(), `another dialog at ${path}`);
        await offered('[role=dialog] [name=project_id]');
      }
    },
  },
  {
    name: 'names of tenants',
    as: 'operator',
    path: (ids) => `/tenants/${ids.tenant}`,
    act: async (h) => {
      await rename(h, 'act.rename', 'tenant');
      h.must((await h.page.locator('#page-title').innerText()) === CALLED[h.lang].tenant, 'the title is another name');
    },
  },
  {
    name: 'names in the log',
    as: 'compliance',
    expected: [404], // the log has no signed head in its first minute
    path: (ids) => `/audit?resource=${ids.named}&action=dataset.create`,
    act: async (h) => {
      await h.page.getByText(new RegExp(CALLED[h.lang].set)).first().waitFor();
    },
  },
];
