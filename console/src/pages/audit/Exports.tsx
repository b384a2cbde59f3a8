// SPDX-License-Identifier: Apache-2.0
// Exports.tsx - parts of the log to take along: the bundle that verifies, and renderings for other programs; each is an event itself.
import {
  ActionGroup,
  Button,
  Form,
  FormGroup,
  FormSelect,
  FormSelectOption,
  Modal,
  ModalBody,
  ModalHeader,
} from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { EXPORT_NEW_FORMAT, EXPORT_NEW_PROVES } from '../../api/gen/enums.ts';
import { change, type Schemas } from '../../api/client.ts';
import { useForget, useGet } from '../../api/hooks.ts';
import { bytes, number } from '../../lib/format.ts';
import type { Search } from '../../lib/search.ts';
import { Code, Id, Pairs, Time } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';
import { Empty, useProblemText } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { Frame } from './frame.tsx';
import { CloseButton, Line } from './pieces.tsx';
import { codeOf, Suggest, useChoices, wordsOf, type ChoiceName } from './choices.tsx';
import { rangeOf, WhenFields, type When } from './when.tsx';
import { useKnown } from './words.ts';

type Job = Schemas['audit_export_job'];
const WORDED: ChoiceName[] = ['actor', 'action', 'resource'];
const FORMATS = EXPORT_NEW_FORMAT;
const PROVES = EXPORT_NEW_PROVES;
const EXTENSION: Record<string, string> = {
  csv: 'csv',
  cef: 'cef',
  syslog: 'log',
  summary: 'md',
  'summary-html': 'html',
};
const fileOf = (j: Job): string => `audit-${j.export_id}.${EXTENSION[j.format ?? ''] ?? 'jsonl'}`;
const contentOf = (j: Job): string => `/v1/audit/exports/${j.export_id}/content`;
const keyHex = (j: Job): string =>
  Array.from(atob(j.public_key ?? ''), (c) => c.charCodeAt(0).toString(16).padStart(2, '0')).join('');

/** Without a filter every entry is there, and only the bundle proves anything. */
const hasChoice = (format: string, asked: Record<string, unknown>): boolean =>
  format === 'jsonl' && Object.entries(asked).some(([name, x]) => name !== 'since_export' && x !== undefined);

function Make({ onMade, onClose }: { onMade: (j: Job) => void; onClose: () => void }) {
  const { t } = useTranslation();
  const text = useProblemText();
  const s = useSearch({ strict: false }) as Search;
  const before = useGet('/v1/audit/exports', { page_size: 50 });
  const [when, setWhen] = useState<When>({ when: s['when'] ?? '', from: s['from'] ?? '', to: s['to'] ?? '' });
  const [v, setV] = useState<
    Record<(typeof WORDED)[number] | 'since_export', string> & {
      format: (typeof FORMATS)[number];
      proves: (typeof PROVES)[number];
    }
  >({
    format: 'jsonl',
    proves: 'best',
    actor: s['actor'] ?? '',
    action: s['action'] ?? '',
    resource: s['resource'] ?? '',
    since_export: '',
  });
  const choices = useChoices(useKnown(), v.resource);
  // What came with the address is a code and drawn in words; what is typed stays as it is typed.
  const [typed, setTyped] = useState<ReadonlySet<string>>(new Set());
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const set = (name: string) => (_e: unknown, value: string) => setV((o) => ({ ...o, [name]: value }));
  const go = async (): Promise<void> => {
    setBusy(true);
    setProblem('');
    try {
      const given = Object.fromEntries(
        [...WORDED.map((n) => [n, codeOf(choices[n], v[n])]), ['since_export', v.since_export]].filter(
          ([, x]) => x !== '',
        ),
      );
      const asked = { ...given, ...rangeOf(when) },
        proves = hasChoice(v.format, asked) ? { proves: v.proves } : {};
      onMade(await change('POST', '/v1/audit/exports', { format: v.format, ...proves, ...asked }));
    } catch (p) {
      setProblem(text(p));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="make-title">
      <ModalHeader title={t('exports.make')} labelId="make-title" description={t('exports.makeBody')} />
      <ModalBody>
        <Form
          onSubmit={(e) => {
            e.preventDefault();
            void go();
          }}
        >
          {problem && <Note variant="danger" title={problem} />}
          <FormGroup label={t('exports.format')} fieldId="x-format">
            <FormSelect id="x-format" value={v.format} onChange={set('format')}>
              {FORMATS.map((f) => (
                <FormSelectOption key={f} value={f} label={t(`exports.as_${f.replace('-', '_')}`)} />
              ))}
            </FormSelect>
          </FormGroup>
          <WhenFields id="x" value={when} onChange={setWhen} />
          {WORDED.map((n) => (
            <Suggest
              key={n}
              id={`x-${n}`}
              name={n}
              value={typed.has(n) ? v[n] : wordsOf(choices[n], v[n])}
              put={(x) => {
                setTyped((o) => new Set(o).add(n));
                set(n)(undefined, x);
              }}
              choices={choices}
            />
          ))}
          {v.format === 'jsonl' && (
            <FormGroup label={t('exports.proves')} fieldId="x-proves">
              <FormSelect id="x-proves" value={v.proves} onChange={set('proves')} aria-describedby="x-proves-help">
                {PROVES.map((p) => (
                  <FormSelectOption key={p} value={p} label={t(`exports.proves_${p}`)} />
                ))}
              </FormSelect>
              <p className="lead" id="x-proves-help">
                {t('exports.provesHelp')}
              </p>
            </FormGroup>
          )}
          <FormGroup label={t('exports.since')} fieldId="x-since">
            <FormSelect id="x-since" value={v.since_export} onChange={set('since_export')}>
              <FormSelectOption value="" label={t('exports.sinceNone')} />
              {(before.data?.data ?? [])
                .filter((j) => j.format === 'jsonl')
                .map((j) => (
                  <FormSelectOption
                    key={j.export_id}
                    value={j.export_id}
                    label={t('exports.upTo', { to: number(j.to_tseq), id: `\u2068${j.export_id!.slice(-6)}\u2069` })}
                  />
                ))}
            </FormSelect>
          </FormGroup>
          <ActionGroup>
            <Button type="submit" isLoading={busy} isDisabled={busy} spinnerAriaValueText={t('state.loading')}>
              {t('exports.go')}
            </Button>
            <Button variant="link" onClick={onClose}>
              {t('act.cancel')}
            </Button>
          </ActionGroup>
        </Form>
      </ModalBody>
    </Modal>
  );
}

function One({ job, onClose }: { job: Job; onClose: () => void }) {
  const { t } = useTranslation();
  const isProof = job.format === 'jsonl';
  return (
    <section className="beside" aria-labelledby="one-export">
      <aside aria-labelledby="one-export">
        <div className="aside-top">
          <h2 id="one-export">{t('exports.ready')}</h2>
          <CloseButton onClose={onClose} />
        </div>
        <Pairs
          rows={[
            [t('exports.format'), t(`exports.as_${(job.format ?? '').replace('-', '_')}`)],
            [t('verify.entries'), t('verify.fromTo', { from: number(job.from_tseq), to: number(job.to_tseq) })],
            [t('verify.headSize'), number(job.head_size)],
            [t('audit.key'), job.key_id && <Code key="k">{job.key_id}</Code>],
            [t('audit.filters'), job.filter && <Code key="f">{job.filter}</Code>],
            [t('exports.proves'), job.proves && t(`exports.proves_${job.proves}`)],
            [t('col.size'), job.size_bytes > 0 ? bytes(job.size_bytes) : t('exports.notYet')],
          ]}
        />
        <div className="acts">
          <a className="pf-v6-c-button pf-m-primary" href={contentOf(job)} download={fileOf(job)}>
            {t('exports.take')}
          </a>
        </div>
        {isProof && (
          <>
            <p className="lead">{t('exports.offline')}</p>
            <Line label={t('exports.offline')}>{`falaj-verify --key ${keyHex(job)} ${fileOf(job)}`}</Line>
            <Line label={t('exports.offline')}>{`python3 verify-audit.py --key ${keyHex(job)} ${fileOf(job)}`}</Line>
          </>
        )}
      </aside>
    </section>
  );
}

export function Exports() {
  const { t } = useTranslation();
  const forget = useForget();
  const navigate = useNavigate();
  const s = useSearch({ strict: false }) as Search;
  const [job, setJob] = useState<Job | null>(null);
  const leave = (): void => void navigate({ to: '.', search: {} as never });
  return (
    <Frame
      part="audit.exports"
      lead={t('exports.lead')}
      api={['GET /v1/audit/exports', 'POST /v1/audit/exports', 'GET /v1/audit/exports/{export_id}/content']}
      cli={[
        'falaj audit export log.jsonl',
        'falaj audit export log.jsonl --resume exp_…',
        'falaj audit verify log.jsonl --key ZONE-AUDIT.pem',
      ]}
      actions={
        <Button onClick={() => void navigate({ to: '.', search: { ...s, make: '1' } as never })}>
          {t('exports.make')}
        </Button>
      }
    >
      {s['make'] && (
        <Make
          onClose={leave}
          onMade={(made) => {
            setJob(made);
            leave();
            void forget('/v1/audit/exports');
          }}
        />
      )}
      {job && <One job={job} onClose={() => setJob(null)} />}
      <ServerTable
        path="/v1/audit/exports"
        label={t('audit.exports')}
        rowKey={(j) => j.export_id!}
        columns={[
          { name: 'created_at', label: t('col.created'), cell: (j) => <Time at={j.created_at} /> },
          {
            name: 'format',
            label: t('exports.format'),
            cell: (j) => t(`exports.as_${(j.format ?? '').replace('-', '_')}`),
          },
          {
            name: 'from_tseq',
            label: t('verify.entries'),
            cell: (j) => t('verify.fromTo', { from: number(j.from_tseq), to: number(j.to_tseq) }),
          },
          {
            name: 'size_bytes',
            label: t('col.size'),
            cell: (j) => (j.size_bytes > 0 ? bytes(j.size_bytes) : t('exports.notYet')),
          },
          { name: 'export_id', label: t('col.id'), cell: (j) => <Id value={j.export_id} /> },
        ]}
        rowActions={(j) => (
          <div className="acts">
            <a href={contentOf(j)} download={fileOf(j)}>
              {t('act.download')}
            </a>
            <Button variant="link" isInline onClick={() => setJob(j)}>
              {t('exports.details')}
            </Button>
          </div>
        )}
        empty={<Empty title={t('exports.none')} body={t('exports.lead')} cli="falaj audit export log.jsonl" />}
      />
    </Frame>
  );
}
