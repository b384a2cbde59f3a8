// SPDX-License-Identifier: Apache-2.0
// Heads.tsx - what was signed, when and by which key; and the keys, to be kept somewhere else.
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { saveAs } from '../../lib/csv.ts';
import { number } from '../../lib/format.ts';
import { Problem } from '../../api/problem.ts';
import { Code, Pairs, Time } from '../../ui/bits.tsx';
import { Answer, Empty } from '../../ui/states.tsx';
import { ServerTable } from '../../ui/table.tsx';
import { Frame } from './frame.tsx';
import { Button } from './pieces.tsx';

const toBase64 = (s: string): string => btoa(s);
const hexToBase64 = (h: string): string =>
  btoa((h.match(/../g) ?? []).map((b) => String.fromCharCode(parseInt(b, 16))).join(''));
/** As falaj-verify --previous wants it. */
const kept = (h: Schemas['head_out']): string =>
  `{"body":"${toBase64(JSON.stringify(h.head))}","sig":"${hexToBase64(h.signature ?? '')}"}\n`;

function Newest() {
  const { t } = useTranslation();
  const head = useGet('/v1/audit/head', {}, { everyMs: 15_000 });
  // A log whose first head is not signed yet has none: that is no failure.
  if (head.error instanceof Problem && head.error.status === 404) return <p className="lead">{t('audit.noHead')}</p>;
  return (
    <Answer of={head}>
      {(h) => (
        <>
          <Pairs
            rows={[
              [t('audit.size'), number(h.size)],
              [t('audit.root'), <Code key="r">{h.root}</Code>],
              [t('audit.chain'), <Code key="c">{h.chain}</Code>],
              [t('audit.key'), <Code key="k">{h.key_id}</Code>],
            ]}
          />
          <div className="acts">
            <Button variant="secondary" onClick={() => saveAs(`head-${h.size}.json`, kept(h), 'application/json')}>
              {t('heads.keep')}
            </Button>
            <span className="lead">{t('heads.keepBody')}</span>
          </div>
        </>
      )}
    </Answer>
  );
}

export function Heads() {
  const { t } = useTranslation();
  const keys = useGet('/v1/audit/keys');
  return (
    <Frame
      part="audit.heads"
      lead={t('heads.lead')}
      api={['GET /v1/audit/head', 'GET /v1/audit/heads', 'GET /v1/audit/keys', 'GET /v1/audit/proofs/consistency']}
      cli={['falaj audit head', 'falaj-verify --save-head head.json log.jsonl']}
    >
      <h2 className="block">{t('heads.newest')}</h2>
      <Newest />
      <h2 className="block">{t('heads.keys')}</h2>
      <p className="lead">{t('heads.keysBody')}</p>
      <Answer of={keys}>
        {(page) => (
          <>
            {page.data.map((k) => (
              <Pairs
                key={k.key_id}
                rows={[
                  [t('col.zone'), <Code key="z">{k.zone}</Code>],
                  [t('heads.keyId'), <Code key="i">{k.key_id}</Code>],
                  [t('heads.public'), <Code key="p">{k.public_key}</Code>],
                ]}
              />
            ))}
          </>
        )}
      </Answer>
      <h2 className="block">{t('heads.all')}</h2>
      <ServerTable
        path="/v1/audit/heads"
        label={t('heads.all')}
        rowKey={(h) => String(h.size)}
        after={(h) => String(h.size)}
        columns={[
          { name: 'size', label: t('verify.headSize'), cell: (h) => number(h.size) },
          { name: 'signed_at', label: t('verify.signedAt'), cell: (h) => <Time at={h.signed_at} /> },
          { name: 'key_id', label: t('audit.key'), cell: (h) => <Code>{h.key_id?.slice(0, 16)}</Code> },
          { name: 'head', label: t('audit.root'), cell: (h) => <Code>{(h.head as { root?: string }).root}</Code> },
        ]}
        empty={<Empty title={t('heads.none')} body={t('audit.noHead')} />}
      />
    </Frame>
  );
}
