// SPDX-License-Identifier: Apache-2.0
// Verdict.tsx - how far a verification is, and what came of it: sizes, head, key, and the first bad entry with its number.
import { Button, Progress } from '@patternfly/react-core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { saveAs } from '../../lib/csv.ts';
import { bytes, number } from '../../lib/format.ts';
import type { Kept } from '../../lib/audit-kept.ts';
import type { Run } from '../../lib/audit-verify-run.ts';
import { Code, Pairs, Time } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';
import { Failure } from '../../ui/states.tsx';
import { Line } from './pieces.tsx';

/** For another machine, where the key that is named must not come from this server. */
export function commandOf(name: string, key = 'ZONE-AUDIT.pem', dropped = false): string {
  const file = /^[\w.-]+$/.test(name) && !name.startsWith('-') ? name : `'${name.replaceAll("'", "'\\''")}'`;
  return `falaj-verify --key ${key}${dropped ? ' --allow-unproved-drops' : ''} ${file}`;
}

/** pinned: the key that the reader gave, in hex. name: of the file, for the command that checks it again on another machine. own: of the log that this page is about.
 *  byServer: the key was not given by the reader but named by the server that is being verified. */
export function VerdictOf(p: {
  run: Run;
  name: string;
  own: boolean;
  byServer: boolean;
  pinned?: string;
  kept?: Kept | null;
  onStop: () => void;
}) {
  const { run, name, own, byServer, pinned, kept, onStop } = p;
  const { t } = useTranslation();
  const v = run.verdict;
  if (run.state === 'failed') return <Failure problem={run.problem} />;
  if (run.state === 'running')
    return (
      <div className="verdict">
        <Progress
          title={t('verify.running', { count: v?.count ?? 0 })}
          value={
            run.total > 0 && v
              ? (100 * v.bytes) / run.total
              : v
                ? Math.min(99, (100 * v.count) / (v.to - v.from + 1))
                : 0
          }
          label={bytes(v?.bytes ?? 0)}
          aria-label={t('verify.progress')}
        />
        <Button variant="link" onClick={onStop}>
          {t('act.cancel')}
        </Button>
      </div>
    );
  if (run.state !== 'done' || !v) return null;
  const isGood = v.result === 'ok';
  return (
    <div className="verdict" role="status">
      <Note
        variant={!isGood ? 'danger' : v.signature === 'pinned' && v.unproved === 0 ? 'success' : 'warning'}
        title={
          isGood
            ? t(v.signature === 'unchecked' ? 'verify.fits' : 'verify.whole', { count: v.count })
            : v.tseq > 0
              ? t('verify.badAt', { what: t(`verify.is_${v.result}`), tseq: number(v.tseq) })
              : t('verify.bad', { what: t(`verify.is_${v.result}`) })
        }
      >
        <p>{t(byServer && v.signature === 'pinned' ? 'verify.signature_named' : `verify.signature_${v.signature}`)}</p>
        {isGood && kept && (
          <p>{t(kept.witness ? 'verify.witnessFits' : 'verify.keptFits', { size: number(kept.size) })}</p>
        )}
        {isGood && v.some && <p>{t('verify.selection')}</p>}
        {isGood && v.filtered && <p>{t('verify.filtered')}</p>}
        {isGood && v.unproved > 0 && <p>{t('verify.unproved', { count: v.unproved })}</p>}
        {isGood && !v.digest && <p>{t('verify.noDigest')}</p>}
        {!isGood && v.line > 0 && <p>{t('verify.line', { line: number(v.line) })}</p>}
        {!isGood && own && v.tseq > 0 && (
          <Link to="/audit" search={{ after: String(Math.max(0, v.tseq - 2)) } as never}>
            {t('verify.goThere')}
          </Link>
        )}
      </Note>
      <Pairs
        rows={[
          [t('verify.entries'), v.from > 0 && t('verify.fromTo', { from: number(v.from), to: number(v.to) })],
          [t('verify.count'), number(v.count)],
          [t('verify.dropped'), v.dropped > 0 && number(v.dropped)],
          [t('verify.withheld'), v.filtered && number(v.withheld)],
          [
            t('verify.mode'),
            v.size > 0 && t(v.some ? 'verify.modeSome' : v.filtered ? 'verify.modeFiltered' : 'verify.modeRange'),
          ],
          [t('verify.headSize'), v.size > 0 && number(v.size)],
          [t('verify.signedAt'), v.signedAt > 0 && <Time key="s" at={new Date(v.signedAt / 1000).toISOString()} />],
          [t('audit.root'), v.root && <Code key="r">{v.root}</Code>],
          [t('audit.chain'), v.chain && <Code key="c">{v.chain}</Code>],
          [t('audit.key'), v.key && <Code key="k">{v.key}</Code>],
          [t('col.zone'), v.zone && <Code key="z">{v.zone}</Code>],
          [t('verify.tenant'), v.tenant && <Code key="t">{v.tenant}</Code>],
          [t('verify.took'), t('verify.tookOf', { seconds: number(run.ms / 1000), bytes: bytes(v.bytes) })],
        ]}
      />
      {run.file && (
        <div className="acts">
          <Button variant="secondary" onClick={() => saveAs(name, run.file!)}>
            {t('verify.save')}
          </Button>
        </div>
      )}
      <p className="lead">{t('verify.again')}</p>
      <Line label={t('verify.again')}>{commandOf(name, pinned || undefined, v.unproved > 0)}</Line>
    </div>
  );
}
