// SPDX-License-Identifier: Apache-2.0
// Datasets.tsx - data sets: the list, one with its versions, and upload of a new version.
import { Alert, Button, FileUpload, Form, FormGroup, Modal, ModalBody, ModalHeader } from '@patternfly/react-core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, withQuery, type Schemas } from '../api/client.ts';
import { useForget, useGet } from '../api/hooks.ts';
import { bytes, number } from '../lib/format.ts';
import { useSession } from '../shell/session.tsx';
import { Code, Id, Name, Pairs, shortId, Time, To } from '../ui/bits.tsx';
import { FormButton } from '../ui/dialogs.tsx';
import { bodyOf, SLUG, type Field } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { Answer, Empty, ServerWords, useProblemText } from '../ui/states.tsx';
import { ServerTable, useListSearch } from '../ui/table.tsx';

type Dataset = Schemas['dataset'];
type Version = Schemas['dataset_version'];
const CLASSES = ['internal', 'public', 'personal', 'sensitive', 'health', 'banking', 'gov'];

export function Datasets() {
  const { t } = useTranslation();
  const { can } = useSession();
  const navigate = useNavigate();
  const forget = useForget();
  const fields: Field[] = [
    { name: 'name', label: t('col.name'), required: true, pattern: SLUG, help: t('field.slug') },
    { name: 'description', label: t('col.description'), kind: 'area', max: 1024 },
    {
      name: 'data_class',
      label: t('col.class'),
      kind: 'select',
      options: CLASSES.map((c) => ({ value: c, label: t(`class.${c}`) })),
    },
    { name: 'label_column', label: t('col.label'), required: true, max: 128 },
    {
      name: 'classes',
      label: t('col.classes'),
      kind: 'number',
      required: true,
      min: 2,
      max: 65536,
      help: t('datasets.classesHelp'),
    },
  ];
  const create = can('dataset:write') && (
    <FormButton
      opens="dataset"
      label={t('datasets.create')}
      title={t('datasets.create')}
      fields={fields}
      initial={{ label_column: 'label' }}
      onSubmit={async (v) => {
        const made = await change<Dataset>('POST', '/v1/datasets', bodyOf(fields, v));
        await forget('/v1/datasets');
        await navigate({ to: `/datasets/${made.dataset_id!}` });
      }}
    />
  );
  return (
    <Page
      name={t('nav.datasets')}
      title={t('nav.datasets')}
      actions={create}
      api={[`GET ${withQuery('/v1/datasets', useListSearch())}`]}
      cli={['falaj dataset list']}
    >
      <ServerTable<Dataset>
        path="/v1/datasets"
        label={t('nav.datasets')}
        rowKey={(d) => d.dataset_id!}
        columns={[
          {
            name: 'name',
            label: t('col.name'),
            cell: (d) => (
              <To to={`/datasets/${d.dataset_id!}`}>
                <Name>{d.name}</Name>
              </To>
            ),
          },
          { name: 'data_class', label: t('col.class'), cell: (d) => t(`class.${d.data_class!}`) },
          { name: 'classes', label: t('col.classes'), cell: (d) => number(d.classes) },
          {
            name: 'latest_version',
            label: t('col.latest'),
            cell: (d) => (d.latest_version > 0 ? number(d.latest_version) : t('datasets.noVersion')),
          },
          { name: 'created_at', label: t('col.created'), cell: (d) => <Time at={d.created_at} ago /> },
        ]}
        empty={
          <Empty
            title={t('datasets.empty')}
            body={t('datasets.emptyBody')}
            action={create}
            cli="falaj dataset create NAME --label label --classes 10"
          />
        }
      />
    </Page>
  );
}

function Upload({ path }: { path: string }) {
  const { t } = useTranslation();
  const { me } = useSession();
  const text = useProblemText();
  const forget = useForget();
  const [open, setOpen] = useState(false);
  const [file, setFile] = useState<File | null>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const send = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await change('POST', `${path}/versions`, new Blob([file!], { type: 'text/csv' }));
      await forget('/v1/datasets');
      setOpen(false);
      setFile(null);
    } catch (p) {
      setProblem(p);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t('datasets.upload')}</Button>
      {open && (
        <Modal isOpen variant="small" onClose={() => setOpen(false)} aria-labelledby="upload-title">
          <ModalHeader
            title={t('datasets.upload')}
            labelId="upload-title"
            description={
              <>
                {t('datasets.uploadBody')} <Code>{me.home_zone}</Code>
              </>
            }
          />
          <ModalBody>
            <Form
              onSubmit={(e) => {
                e.preventDefault();
                void send();
              }}
            >
              {problem !== null && (
                <Alert isInline variant="danger" title={text(problem)}>
                  <ServerWords problem={problem} />
                </Alert>
              )}
              <FormGroup label={t('datasets.file')} fieldId="upload-file" isRequired>
                <FileUpload
                  id="upload-file"
                  filename={file?.name ?? ''}
                  filenameAriaLabel={t('datasets.file')}
                  filenamePlaceholder={t('datasets.drop')}
                  browseButtonText={t('datasets.browse')}
                  clearButtonText={t('act.clear')}
                  hideDefaultPreview
                  browseButtonAriaDescribedby="upload-title"
                  dropzoneProps={{ accept: { 'text/csv': ['.csv'] } }}
                  onFileInputChange={(_e, f) => setFile(f)}
                  onClearClick={() => setFile(null)}
                />
              </FormGroup>
              {file && <p>{bytes(file.size)}</p>}
              <Button
                type="submit"
                isDisabled={file === null || busy}
                isLoading={busy}
                spinnerAriaValueText={t('state.loading')}
              >
                {t('datasets.upload')}
              </Button>
            </Form>
          </ModalBody>
        </Modal>
      )}
    </>
  );
}

export function DatasetDetail() {
  const { t } = useTranslation();
  const { can } = useSession();
  const { id } = useParams({ strict: false }) as { id: string };
  const path = `/v1/datasets/${encodeURIComponent(id)}`;
  const query = useGet<Dataset>(path);
  const d = query.data;
  return (
    <Page
      name={d?.name ?? t('nav.datasets')}
      title={<Name>{d?.name ?? id}</Name>}
      lead={d?.description && <bdi>{d.description}</bdi>}
      crumbs={[[t('nav.datasets'), '/datasets']]}
      actions={d && can('dataset:write') && <Upload path={path} />}
      api={[`GET ${path}`, `GET ${path}/versions`]}
      cli={[`falaj dataset versions ${d?.name ?? id}`, `falaj dataset upload ${d?.name ?? id} FILE`]}
    >
      <Answer of={query}>
        {(x) => (
          <>
            <Pairs
              rows={[
                [t('col.id'), <Id key="i" value={x.dataset_id} />],
                [t('col.class'), t(`class.${x.data_class!}`)],
                [t('col.label'), <Code key="l">{x.label_column}</Code>],
                [t('col.classes'), number(x.classes)],
                [t('col.created'), <Time key="t" at={x.created_at} />],
              ]}
            />
            <h2 className="block">{t('datasets.versions')}</h2>
            <ServerTable<Version>
              path={`${path}/versions`}
              label={t('datasets.versions')}
              rowKey={(v) => String(v.version)}
              columns={[
                { name: 'version', label: t('col.version'), cell: (v) => number(v.version) },
                { name: 'row_count', label: t('col.rows'), cell: (v) => number(v.row_count) },
                { name: 'column_count', label: t('col.columns'), cell: (v) => number(v.column_count) },
                { name: 'size_bytes', label: t('col.size'), cell: (v) => bytes(v.size_bytes) },
                { name: 'zone', label: t('col.zone'), cell: (v) => <Code>{v.zone}</Code> },
                {
                  name: 'sha256',
                  label: t('col.digest'),
                  cell: (v) => (
                    <span title={v.sha256}>
                      <Code>{shortId(v.sha256)}</Code>
                    </span>
                  ),
                },
                { name: 'created_at', label: t('col.created'), cell: (v) => <Time at={v.created_at} ago /> },
              ]}
              {...(can('dataset:content')
                ? {
                    rowActions: (v: Version) => (
                      <a href={`${path}/versions/${v.version}/content`} download={`${x.name!}-${v.version}.csv`}>
                        {t('act.download')}
                      </a>
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
          </>
        )}
      </Answer>
    </Page>
  );
}
