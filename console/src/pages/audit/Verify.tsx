// SPDX-License-Identifier: Apache-2.0
// Verify.tsx - the log, or a bundle that somebody brings, is verified by this browser: hashes, tree, head, signature.
import { Button, Checkbox, Form, FormGroup, FormHelperText, HelperText, TextInput } from '@patternfly/react-core';
import { useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FaultText } from '../../ui/faulttext.tsx';
import { getPage } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { canCheckSignatures, hex, unbase64, unhex, type Bytes } from '../../lib/audit-verify-hash.ts';
import { readKept, type Kept, type KeptFault } from '../../lib/audit-kept.ts';
import { useVerification } from '../../lib/audit-verify-run.ts';
import type { Search } from '../../lib/search.ts';
import { useSession } from '../../shell/session.tsx';
import { FilePick } from '../../ui/filepick.tsx';
import { Note } from '../../ui/note.tsx';
import { useProblemText } from '../../ui/states.tsx';
import { Frame } from './frame.tsx';
import { KeptField, NOTHING_KEPT, type Given } from './Kept.tsx';
import { Line } from './pieces.tsx';
import { commandOf, VerdictOf } from './Verdict.tsx';
import { rangeOf, WhenFields, type When } from './when.tsx';

const MAX = Number.MAX_SAFE_INTEGER;
/** The number of the first event from a moment on; 0 where there is none. */
async function firstFrom(at: string): Promise<number> {
  const page = await getPage('/v1/audit/events', { from: at, page_size: 1 });
  return page.data[0]?.tseq ?? 0;
}
/** The stretch of numbers that a stretch of time covers; to 0: as far as is signed. null: nothing happened then. */
export async function numbersOf(range: { from?: string; to?: string }): Promise<{ from: number; to: number } | null> {
  const from = range.from ? await firstFrom(range.from) : 1;
  const next = range.to ? await firstFrom(range.to) : 0;
  return from === 0 || (next > 0 && next <= from) ? null : { from, to: next > 0 ? next - 1 : 0 };
}
/** A public key as 64 hex digits, as base64, or as PEM. */
export function readKey(text: string): Bytes | null {
  const bare = text.replace(/-----[A-Z ]+-----/g, '').replace(/\s/g, '');
  if (/^[0-9a-fA-F]{64}$/.test(bare)) return unhex(bare.toLowerCase());
  const raw = unbase64(bare);
  return raw && (raw.length === 32 || raw.length === 44) ? raw.slice(-32) : null;
}
const addressOf = (from: number, to: number): string => `/v1/audit/export?from=${from}${to > 0 ? `&to=${to}` : ''}`;

/** Of the keys that this server names: enough against damage, not against the server itself. */
function useServerKeys(): Bytes[] {
  const keys = useGet('/v1/audit/keys');
  return (keys.data?.data ?? []).map((k) => unbase64(k.public_key ?? '')).filter((k) => k !== null);
}

type Ability = 'yes' | 'no' | 'none' | '';
/** no: hashes, but no signatures of this kind. none: no cryptography at all, and so no verification. */
function useAbility(): Ability {
  const [can, setCan] = useState<Ability>('');
  useEffect(() => {
    if (!globalThis.crypto?.subtle) setCan('none');
    else void canCheckSignatures().then((ok) => setCan(ok ? 'yes' : 'no'));
  }, []);
  return can;
}
function Elsewhere({ can }: { can: 'no' | 'none' }) {
  const { t } = useTranslation();
  return (
    <Note variant="warning" title={t(`verify.able_${can}`)} className="block">
      <p>{t(`verify.able_${can}Body`)}</p>
      <Line label={t('verify.again')}>{'falaj audit export audit.jsonl'}</Line>
      <Line label={t('verify.again')}>{commandOf('audit.jsonl')}</Line>
    </Note>
  );
}

function KeyField({ id, value, put }: { id: string; value: string; put: (v: string) => void }) {
  const { t } = useTranslation();
  const isBad = value !== '' && readKey(value) === null;
  return (
    <FormGroup label={t('verify.key')} fieldId={id}>
      <TextInput
        id={id}
        dir="ltr"
        value={value}
        validated={isBad ? 'error' : 'default'}
        aria-describedby={`${id}-help`}
        onChange={(_e, v) => put(v)}
      />
      <FormHelperText>
        <HelperText id={`${id}-help`}>
          <FaultText bad={isBad}>{t(isBad ? 'verify.keyBad' : 'verify.keyHelp')}</FaultText>
        </HelperText>
      </FormHelperText>
    </FormGroup>
  );
}

/** The head to hold the log against: what was given, what is wrong with it, and what came of it when a verification began. */
function useKept(): {
  given: Given;
  put: (v: Given) => void;
  fault: KeptFault | '';
  kept: Kept | null;
  read: () => Promise<Kept | null | KeptFault>;
} {
  const [given, setGiven] = useState<Given>(NOTHING_KEPT);
  const [fault, setFault] = useState<KeptFault | ''>('');
  const [kept, setKept] = useState<Kept | null>(null);
  const read = async (): Promise<Kept | null | KeptFault> => {
    const found = given.text === '' ? null : await readKept(given.text, readKey(given.witness));
    setFault(typeof found === 'string' ? found : '');
    setKept(typeof found === 'string' ? null : found);
    return found;
  };
  const put = (v: Given): void => {
    setGiven(v);
    setFault('');
  };
  return { given, put, fault, kept, read };
}

function OwnLog() {
  const { t } = useTranslation();
  const text = useProblemText();
  const s = useSearch({ strict: false }) as Search;
  const [when, setWhen] = useState<When>({ when: s['when'] ?? '', from: s['from'] ?? '', to: s['to'] ?? '' });
  const [numbers, setNumbers] = useState({ from: '', to: '' });
  const [key, setKey] = useState('');
  const [nothing, setNothing] = useState('');
  const [pinned, setPinned] = useState('');
  const server = useServerKeys();
  const { run, start, stop } = useVerification();
  const head = useKept();
  const go = async (): Promise<void> => {
    setNothing('');
    const given = readKey(key);
    setPinned(given ? hex(given) : '');
    try {
      const byTime = await numbersOf(rangeOf(when));
      const from = Math.max(byTime?.from ?? 0, Number(numbers.from) || 1);
      const to = Math.min(byTime?.to || MAX, Number(numbers.to) || MAX);
      if (!byTime || to < from) return setNothing(t('verify.nothing'));
      const kept = await head.read();
      if (typeof kept === 'string') return undefined;
      start({
        url: addressOf(from, to === MAX ? 0 : to),
        options: {
          pinned: given ? [given] : server,
          trustEmbedded: true,
          allowUnproved: true,
          ...(kept ? { previous: kept.previous } : {}),
        },
      });
    } catch (p) {
      setNothing(text(p));
    }
    return undefined;
  };
  return (
    <section aria-labelledby="own-title">
      <h2 className="block" id="own-title">
        {t('verify.own')}
      </h2>
      <p className="lead">{t('verify.ownBody')}</p>
      <Form
        className="audit-filters tops"
        onSubmit={(e) => {
          e.preventDefault();
          void go();
        }}
      >
        <WhenFields id="v" value={when} onChange={setWhen} />
        {(['from', 'to'] as const).map((n) => (
          <FormGroup key={n} label={t(`verify.number_${n}`)} fieldId={`v-n-${n}`}>
            <TextInput
              id={`v-n-${n}`}
              inputMode="numeric"
              dir="ltr"
              value={numbers[n]}
              onChange={(_e, v) => setNumbers((o) => ({ ...o, [n]: v.replace(/\D/g, '') }))}
            />
          </FormGroup>
        ))}
        <KeyField id="v-key" value={key} put={setKey} />
        <KeptField id="v-kept" value={head.given} put={head.put} fault={head.fault} />
        <div className="last">
          <Button type="submit" isDisabled={run.state === 'running'}>
            {t('verify.start')}
          </Button>
        </div>
      </Form>
      <div role="status">{nothing && <Note title={nothing} />}</div>
      <VerdictOf
        run={run}
        own
        byServer={pinned === ''}
        pinned={pinned}
        name="audit.jsonl"
        kept={head.kept}
        onStop={stop}
      />
    </section>
  );
}

function Brought() {
  const { t } = useTranslation();
  const [key, setKey] = useState('');
  const [dropped, setDropped] = useState(false);
  const [over, setOver] = useState(false);
  const [name, setName] = useState('bundle.jsonl');
  const [pinned, setPinned] = useState('');
  const { run, start, stop } = useVerification();
  const head = useKept();
  const take = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    const kept = await head.read();
    if (typeof kept === 'string') return;
    const given = readKey(key);
    setName(file.name);
    setPinned(given ? hex(given) : '');
    const previous = kept ? { previous: kept.previous } : {};
    const trust = given ? { pinned: [given] } : { trustEmbedded: true };
    start({ file, options: { ...trust, ...previous, allowUnproved: dropped } });
  };
  return (
    <section aria-labelledby="brought-title">
      <h2 className="block" id="brought-title">
        {t('verify.brought')}
      </h2>
      <p className="lead">{t('verify.broughtBody')}</p>
      <Form className="audit-filters tops" onSubmit={(e) => e.preventDefault()}>
        <KeyField id="b-key" value={key} put={setKey} />
        <KeptField id="b-kept" value={head.given} put={head.put} fault={head.fault} />
        <Checkbox
          id="b-dropped"
          label={t('verify.allowUnproved')}
          isChecked={dropped}
          onChange={(_e, on) => setDropped(on)}
        />
      </Form>
      {/* Dropping is the short way for the pointer; the button does the same. */}
      <div
        className={over ? 'drop over' : 'drop'}
        role="group"
        aria-label={t('verify.drop')}
        onDragOver={(e) => {
          e.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(e) => {
          e.preventDefault();
          setOver(false);
          void take(e.dataTransfer.files[0]);
        }}
      >
        <p>{t('verify.drop')}</p>
        <FilePick accept=".jsonl,application/jsonl" take={(f) => void take(f)}>
          {t('verify.choose')}
        </FilePick>
      </div>
      <VerdictOf run={run} own={false} byServer={false} pinned={pinned} name={name} kept={head.kept} onStop={stop} />
    </section>
  );
}

export function Verify() {
  const { t } = useTranslation();
  const { can } = useSession();
  const able = useAbility();
  return (
    <Frame
      part="audit.verify"
      lead={t('verify.lead')}
      api={['GET /v1/audit/export?from={tseq}&to={tseq}', 'GET /v1/audit/keys']}
      cli={[
        'falaj audit export audit.jsonl',
        'falaj audit verify audit.jsonl --key ZONE-AUDIT.pem',
        'falaj-verify --key KEY audit.jsonl',
      ]}
    >
      {(able === 'no' || able === 'none') && <Elsewhere can={able} />}
      {able !== 'none' && can('audit:export') && <OwnLog />}
      {able !== 'none' && <Brought />}
    </Frame>
  );
}
