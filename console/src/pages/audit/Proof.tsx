// SPDX-License-Identifier: Apache-2.0
// Proof.tsx - what this browser holds of the log and has proved of it; and, should the log ever fork, the two heads as evidence.
import { Button } from '@patternfly/react-core';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { forget, look, useProof } from '../../api/proof.ts';
import { saveAs } from '../../lib/csv.ts';
import { number } from '../../lib/format.ts';
import { evidenceOf, type Fork, type Pin, type Signed } from '../../lib/proof.ts';
import { Code, Pairs, Time } from '../../ui/bits.tsx';
import { TypedConfirm } from '../../ui/dialogs.tsx';
import { Note } from '../../ui/note.tsx';
import { Frame } from './frame.tsx';

function HeadOf({ title, of }: { title: string; of: Signed }) {
  const { t } = useTranslation();
  const head = JSON.parse(of.body) as { size?: number; root?: string; ts_us?: number; key_id?: string };
  const rows: [string, ReactNode][] = [
    [t('audit.size'), number(head.size ?? 0)],
    [t('verify.signedAt'), <Time key="a" at={new Date((head.ts_us ?? 0) / 1000).toISOString()} />],
    [t('audit.root'), <Code key="r">{head.root}</Code>],
    [t('heads.keyId'), <Code key="k">{head.key_id}</Code>],
  ];
  return (
    <section className="proof-head">
      <h3>{title}</h3>
      <dl className="proof-facts">
        {rows.map(([term, value]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
function Broken({ fork }: { fork: Fork }) {
  const { t } = useTranslation();
  return (
    <>
      <Note variant="danger" title={t(`proof.how_${fork.how}`)}>
        <p>{t('proof.brokenBody')}</p>
        <p>
          {t('proof.found')} <Time at={fork.found} />
        </p>
      </Note>
      <div className="proof-pair">
        <HeadOf title={t('proof.held')} of={fork.held} />
        <HeadOf title={t('proof.seen')} of={fork.seen} />
      </div>
      <div className="acts">
        <Button onClick={() => saveAs('fork.json', evidenceOf(fork), 'application/json')}>{t('proof.export')}</Button>
        <TypedConfirm
          variant="secondary"
          label={t('proof.anew')}
          title={t('proof.anewTitle')}
          name={t('proof.anewWord')}
          effect={t('proof.anewEffect')}
          onConfirm={forget}
        />
      </div>
    </>
  );
}
function Held({ pin, looked }: { pin: Pin; looked: string }) {
  const { t } = useTranslation();
  return (
    <>
      <h2 className="block">{t('proof.holds')}</h2>
      <Pairs
        rows={[
          [t('proof.provedTo'), <Time key="a" at={new Date(pin.at).toISOString()} />],
          [t('audit.size'), number(pin.size)],
          [t('proof.since'), <Time key="s" at={pin.since} />],
          [t('proof.checks'), number(pin.checks)],
          [t('proof.looked'), looked === '' ? '' : <Time key="l" at={looked} ago />],
          [t('audit.root'), <Code key="r">{pin.root}</Code>],
          [t('heads.keyId'), <Code key="i">{pin.keyId}</Code>],
          [t('heads.public'), <Code key="k">{pin.key}</Code>],
        ]}
      />
    </>
  );
}

export function Proof() {
  const { t } = useTranslation();
  const proof = useProof();
  const [busy, setBusy] = useState(false);
  const ask = (): void => {
    setBusy(true);
    void look().finally(() => setBusy(false));
  };
  return (
    <Frame
      part="audit.proof"
      lead={t('proof.lead')}
      api={['GET /v1/audit/head', 'GET /v1/audit/keys', 'GET /v1/audit/proofs/consistency']}
      cli={['falaj audit head', 'falaj audit verify']}
      actions={
        proof.state !== 'broken' && (
          <Button variant="secondary" isLoading={busy} spinnerAriaValueText={t('state.loading')} onClick={ask}>
            {t('proof.now')}
          </Button>
        )
      }
    >
      {proof.fork ? (
        <Broken fork={proof.fork} />
      ) : proof.pin ? (
        <Note variant="success" title={t('proof.good')}>
          <p>{t('proof.goodBody', { count: proof.pin.size, n: number(proof.pin.size) })}</p>
        </Note>
      ) : (
        <Note variant={proof.state === 'unable' ? 'warning' : 'info'} title={t(`proof.${proof.state}`)}>
          <p>{t(`proof.${proof.state}Body`)}</p>
        </Note>
      )}
      {proof.pin && <Held pin={proof.pin} looked={proof.looked} />}
      <h2 className="block">{t('proof.how')}</h2>
      <ol className="proof-steps">
        {['pin', 'sign', 'extend', 'keep'].map((step) => (
          <li key={step}>{t(`proof.step_${step}`)}</li>
        ))}
      </ol>
    </Frame>
  );
}
