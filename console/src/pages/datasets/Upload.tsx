// SPDX-License-Identifier: Apache-2.0
// Upload.tsx - a file as the next version: looked at before it is sent, with its progress, and its digest compared with what is kept.
import { Button, FileUpload, Form, FormGroup, Modal, ModalBody, ModalHeader, Progress } from '@patternfly/react-core';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { HEAD_BYTES } from '../../api/content.ts';
import { useForget } from '../../api/hooks.ts';
import { HASH_MAX, sha256, upload } from '../../api/upload.ts';
import { readHead, type Head } from '../../lib/csvread.ts';
import { bytes, number, percent } from '../../lib/format.ts';
import { useSession } from '../../shell/session.tsx';
import { Code } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';
import { ServerWords, useProblemText } from '../../ui/states.tsx';
import './datasets.css';
import { HEAD_ROWS, HeadTable } from './HeadTable.tsx';

type Version = Schemas['dataset_version'];
interface Picked {
  file: File;
  head: Head;
  digest: string | null;
}

export function Upload({ of, path }: { of: Schemas['dataset']; path: string }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t('datasets.upload')}</Button>
      {open && <UploadDialog of={of} path={path} close={() => setOpen(false)} />}
    </>
  );
}

function UploadDialog({ of, path, close }: { of: Schemas['dataset']; path: string; close: () => void }) {
  const { t } = useTranslation();
  const { me } = useSession();
  const words = useProblemText();
  const forget = useForget();
  const [picked, setPicked] = useState<Picked | null>(null);
  const [sent, setSent] = useState<number | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [stopped, setStopped] = useState(false);
  const [made, setMade] = useState<Version | null>(null);
  const stop = useRef<AbortController | null>(null);
  const busy = sent !== null;

  const pick = async (file: File): Promise<void> => {
    setProblem(null);
    setStopped(false);
    const text = await file.slice(0, HEAD_BYTES).text();
    const head = readHead(text, file.size <= HEAD_BYTES, HEAD_ROWS);
    setPicked({ file, head, digest: null });
    if (file.size > HASH_MAX) return;
    const digest = await sha256(file);
    setPicked((p) => (p?.file === file ? { ...p, digest } : p));
  };
  const send = async (): Promise<void> => {
    stop.current = new AbortController();
    setSent(0);
    setProblem(null);
    setStopped(false);
    try {
      const version = await upload<Version>(`${path}/versions`, picked!.file, 'text/csv', setSent, stop.current.signal);
      await forget('/v1/datasets');
      if (picked!.digest === version.sha256) close();
      else setMade(version);
    } catch (p) {
      if (p instanceof DOMException && p.name === 'AbortError') setStopped(true);
      else setProblem(p);
    } finally {
      setSent(null);
    }
  };
  const isMissing = picked !== null && !picked.head.names.includes(of.label_column!);
  const share = picked && sent !== null ? sent / Math.max(1, picked.file.size) : 0;
  return (
    <Modal
      isOpen
      variant="medium"
      onClose={() => {
        stop.current?.abort();
        close();
      }}
      aria-labelledby="upload-title"
    >
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
          {problem !== null && (
            <Note variant="danger" title={words(problem)}>
              <ServerWords problem={problem} />
              <p>{t('datasets.uploadAgain')}</p>
            </Note>
          )}
          {stopped && <Note title={t('datasets.stopped')}>{t('datasets.uploadAgain')}</Note>}
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
              isDisabled={busy}
              browseButtonAriaDescribedby="upload-title"
              dropzoneProps={{ accept: { 'text/csv': ['.csv'] } }}
              onFileInputChange={(_e, f) => void pick(f)}
              onClearClick={() => setPicked(null)}
            />
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
                  <span>{t(picked.file.size > HASH_MAX ? 'datasets.digestNot' : 'state.loading')}</span>
                )}
              </p>
              {isMissing && (
                <Note variant="warning" title={t('datasets.noLabel')}>
                  <Code>{of.label_column}</Code>
                </Note>
              )}
              <HeadTable head={picked.head} label={of.label_column!} name={t('datasets.head')} />
            </>
          )}
          {busy && (
            <Progress
              aria-label={t('datasets.sending')}
              value={Math.round(share * 100)}
              label={percent(share)}
              title={share >= 1 ? t('datasets.checking') : t('datasets.sending')}
            />
          )}
          <div className="play-acts">
            <Button
              type="submit"
              isDisabled={picked === null || busy || made !== null}
              isLoading={busy}
              spinnerAriaValueText={t('state.loading')}
            >
              {t('datasets.upload')}
            </Button>{' '}
            {busy ? (
              <Button variant="secondary" onClick={() => stop.current?.abort()}>
                {t('datasets.stop')}
              </Button>
            ) : (
              <Button variant="link" onClick={close}>
                {t(made ? 'act.close' : 'act.cancel')}
              </Button>
            )}
          </div>
        </Form>
      </ModalBody>
    </Modal>
  );
}
