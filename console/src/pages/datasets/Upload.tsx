// SPDX-License-Identifier: Apache-2.0
// Upload.tsx - a file as the next version: looked at before it is sent, with its progress, and its digest compared with what is kept. A large
// file can be paused, goes on by itself when a lost connection is back, and from where it was when the same file is chosen again.
import {
  Button,
  FileUpload,
  Form,
  FormGroup,
  FormSelect,
  FormSelectOption,
  Modal,
  ModalBody,
  ModalHeader,
  Progress,
} from '@patternfly/react-core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { DATASET_NEW_DATA_CLASS } from '../../api/gen/enums.ts';
import { HEAD_BYTES } from '../../api/content.ts';
import { useForget } from '../../api/hooks.ts';
import { formatOf, FORMATS, ONE_BODY_MAX, sha256, SIZE_MAX, type Format, type Version } from '../../api/upload.ts';
import { readHead, type Head } from '../../lib/csvread.ts';
import { bytes, number, percent } from '../../lib/format.ts';
import { oneOf } from '../../lib/oneof.ts';
import { useSession } from '../../shell/session.tsx';
import { Code } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';
import { Remedy } from '../../ui/remedy.tsx';
import { ServerWords, useProblemText } from '../../ui/states.tsx';
import './datasets.css';
import { HEAD_ROWS, HeadTable } from './HeadTable.tsx';
import { useSending } from './sending.ts';

interface Picked {
  file: File;
  head: Head;
  digest: string | null;
  hashed: boolean;
}

/** Flags have several columns, whose names begin alike; rows that are only to be answered need none. */
const hasLabel = (names: string[], of: Schemas['dataset']): boolean =>
  of.target === 'none' ||
  (of.target === 'flags'
    ? names.some((n) => n.startsWith(of.label_column!.slice(0, -1)))
    : names.includes(of.label_column!));

/** What is missing so that data of this class may lie in the home zone; undefined: nothing, or not known yet. */
function useBarred(named: string): Schemas['residency_remedy'] | undefined {
  const { me } = useSession();
  const data_class = oneOf(DATASET_NEW_DATA_CLASS, named)!;
  const ask = { data_class, zone: me.home_zone!, act: 'upload' } as const;
  const asked = useQuery({
    queryKey: ['/v1/residency/explain', ask],
    enabled: Boolean(me.tenant_id && me.home_zone),
    queryFn: () => change('POST', '/v1/residency/explain', ask),
  });
  return asked.data?.allowed === false ? asked.data.remedy : undefined;
}

export function Upload({ of }: { of: Schemas['dataset'] }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t('datasets.upload')}</Button>
      {open && <UploadDialog of={of} close={() => setOpen(false)} />}
    </>
  );
}

function UploadDialog({ of, close }: { of: Schemas['dataset']; close: () => void }) {
  const { t } = useTranslation();
  const { me } = useSession();
  const words = useProblemText();
  const forget = useForget();
  const [picked, setPicked] = useState<Picked | null>(null);
  const [format, setFormat] = useState<Format>('csv');
  const [made, setMade] = useState<Version | null>(null);
  const { look, ...s } = useSending(of.dataset_id!);
  const barred = useBarred(of.data_class!);
  const busy = s.phase === 'sending';
  const inParts = picked !== null && picked.file.size > ONE_BODY_MAX;
  const isTooLarge = picked !== null && picked.file.size > SIZE_MAX;

  const pick = async (file: File): Promise<void> => {
    s.clear();
    const text = await file.slice(0, HEAD_BYTES).text();
    const head = readHead(text, file.size <= HEAD_BYTES, HEAD_ROWS);
    const guess = await formatOf(file);
    setFormat(guess);
    setPicked({ file, head, digest: null, hashed: false });
    const digest = await sha256(file);
    await look(file, digest, guess);
    setPicked((p) => (p?.file === file ? { ...p, digest, hashed: true } : p));
  };
  const send = async (): Promise<void> => {
    const version = await s.send(picked!.file, picked!.digest, format);
    if (version === null) return;
    await forget('/v1/datasets');
    if (picked!.digest === version.sha256) close();
    else setMade(version);
  };
  const isTable = format === 'csv';
  const isMissing = picked !== null && isTable && !hasLabel(picked.head.names, of);
  const share = picked ? s.sent / Math.max(1, picked.file.size) : 0;
  const shown = picked && share >= 1 && s.checked > 0 ? s.checked / Math.max(1, picked.file.size) : share;
  return (
    <Modal isOpen variant="medium" onClose={close} aria-labelledby="upload-title">
      <ModalHeader
        title={t('datasets.upload')}
        labelId="upload-title"
        description={
          <>
            {t('datasets.uploadBody')} <Code>{me.home_zone}</Code>. {t('datasets.uploadWhole')}
          </>
        }
      />
      <ModalBody>
        <Form
          noValidate
          onSubmit={(e) => {
            e.preventDefault();
            void send();
          }}
        >
          {barred && s.problem === null && (
            <Note variant="warning" title={t('datasets.barred', { what: t(`class.${of.data_class!}`) })}>
              <Remedy of={barred} />
            </Note>
          )}
          {s.problem !== null && (
            <Note variant="danger" title={words(s.problem)}>
              <ServerWords problem={s.problem} />
              <p>{t(s.phase === 'paused' ? 'datasets.uploadKept' : 'datasets.uploadAgain')}</p>
            </Note>
          )}
          {s.stopped && <Note title={t('datasets.stopped')}>{t('datasets.uploadAgain')}</Note>}
          {s.phase === 'paused' && s.problem === null && (
            <Note title={t('datasets.paused')}>{t('datasets.uploadKept')}</Note>
          )}
          {s.phase === 'idle' && s.started && (
            <Note title={t('datasets.begun', { share: percent(share) })}>{t('datasets.begunBody')}</Note>
          )}
          {s.lost && (
            <Note variant="warning" title={t('datasets.lost')}>
              {t('datasets.lostBody')}
            </Note>
          )}
          {isTooLarge && (
            <Note variant="danger" title={t('datasets.tooLarge', { most: bytes(SIZE_MAX) })}>
              {t('datasets.tooLargeBody')}
            </Note>
          )}
          {made && (
            <Note variant={picked?.digest === null ? 'warning' : 'danger'} title={t('datasets.digestOther')}>
              <p>
                {t('datasets.version', { n: number(made.version) })} <Code>{made.sha256}</Code>
              </p>
            </Note>
          )}
          <FormGroup label={t('datasets.file')} fieldId="upload-file" isRequired>
            <FileUpload
              id="upload-file"
              filename={picked?.file.name ?? ''}
              filenameAriaLabel={t('datasets.file')}
              filenamePlaceholder={t('datasets.drop')}
              browseButtonText={t('datasets.browse')}
              clearButtonText={t('act.clear')}
              hideDefaultPreview
              isDisabled={s.phase !== 'idle'}
              browseButtonAriaDescribedby="upload-title"
              dropzoneProps={{
                accept: {
                  'text/csv': ['.csv'],
                  'application/octet-stream': ['.npy', '.tokens', '.bin', '.onnx', '.tar'],
                },
              }}
              onFileInputChange={(_e, f) => void pick(f)}
              onClearClick={() => {
                s.clear();
                setPicked(null);
              }}
            />
          </FormGroup>
          <FormGroup label={t('datasets.format')} fieldId="upload-format">
            <FormSelect
              id="upload-format"
              value={format}
              isDisabled={s.phase !== 'idle' || s.started !== null}
              onChange={(_e, v) => setFormat(v as Format)}
            >
              {(Object.keys(FORMATS) as Format[]).map((f) => (
                <FormSelectOption key={f} value={f} label={t(`datasets.format_${f}`)} />
              ))}
            </FormSelect>
          </FormGroup>
          {picked && (
            <>
              <p>
                {bytes(picked.file.size)} · {t('datasets.digest')}{' '}
                {picked.digest ? (
                  <bdi dir="ltr" className="code digest">
                    {picked.digest}
                  </bdi>
                ) : (
                  <span>{t(picked.hashed ? 'datasets.digestNot' : 'state.loading')}</span>
                )}
              </p>
              {isMissing && (
                <Note variant="warning" title={t('datasets.noLabel')}>
                  <Code>{of.label_column}</Code>
                </Note>
              )}
              {s.phase === 'idle' && isTable && (
                <HeadTable head={picked.head} label={of.label_column!} name={t('datasets.head')} />
              )}
            </>
          )}
          {s.phase !== 'idle' && (
            <Progress
              aria-label={t('datasets.sending')}
              value={Math.round(shown * 100)}
              label={percent(shown)}
              title={t(!busy ? 'datasets.paused' : share >= 1 ? 'datasets.checking' : 'datasets.sending')}
            />
          )}
          <div className="play-acts">
            <Button
              type="submit"
              isDisabled={picked === null || (inParts && !picked.hashed) || isTooLarge || busy || made !== null}
              isLoading={busy}
              spinnerAriaValueText={t('state.loading')}
            >
              {t(s.started && !busy ? 'datasets.goOn' : 'datasets.upload')}
            </Button>{' '}
            {busy && (
              <Button variant="secondary" isDisabled={inParts && share >= 1} onClick={s.pause}>
                {t(inParts ? 'datasets.pause' : 'datasets.stop')}
              </Button>
            )}{' '}
            {s.started ? (
              <Button variant="link" isDisabled={share >= 1 && busy} onClick={() => void s.cancel()}>
                {t('datasets.giveUp')}
              </Button>
            ) : (
              !busy && (
                <Button variant="link" onClick={close}>
                  {t(made ? 'act.close' : 'act.cancel')}
                </Button>
              )
            )}
          </div>
        </Form>
      </ModalBody>
    </Modal>
  );
}
