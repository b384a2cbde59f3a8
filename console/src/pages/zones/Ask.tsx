// SPDX-License-Identifier: Apache-2.0
// Ask.tsx - may this data be there, and why: the judge's own answer.
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { RESIDENCY_EXPLAIN_IN_ACT } from '../../api/gen/enums.ts';
import { change, type Schemas } from '../../api/client.ts';
import type { Search } from '../../lib/search.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Id } from '../../ui/bits.tsx';
import { ApiForm, SLUG, bodyOf, formFields } from '../../ui/form.tsx';
import { Note } from '../../ui/note.tsx';
import { Remedy } from '../../ui/remedy.tsx';
import { CLASSES, useZones } from './data.ts';

type Verdict = Schemas['explain_out'];
const ACTS = RESIDENCY_EXPLAIN_IN_ACT;

export function Ask() {
  const { t, i18n } = useTranslation();
  const { me } = useSession();
  const search = useSearch({ strict: false }) as Search;
  const [verdict, setVerdict] = useState<(Verdict & { of: Record<string, unknown> }) | null>(null);
  const zones = useZones();
  const codes = (zones.data ?? []).map((z) => ({ value: z.code!, label: `${z.code!} · ${z.name!}` }));
  if (!zones.data) return null;
  const fields = formFields(
    {
      name: 'data_class',
      label: t('col.class'),
      kind: 'select',
      options: CLASSES.map((c) => ({ value: c, label: t(`class.${c}`) })),
    },
    { name: 'from', label: t('residency.from'), kind: 'select', options: codes },
    { name: 'zone', label: t('residency.to'), kind: 'select', options: codes },
    {
      name: 'act',
      label: t('residency.act'),
      kind: 'select',
      options: ACTS.map((a) => ({ value: a, label: t(`residency.act_${a}`) })),
    },
    { name: 'purpose', label: t('residency.purpose'), help: t('residency.purposeHelp'), pattern: SLUG },
  );
  const known = verdict && i18n.exists(`residency.rule_${verdict.rule!}`);
  return (
    <div className="split flow-ask-page">
      <ApiForm
        fields={fields}
        submit={t('residency.askIt')}
        casual
        initial={{
          data_class: search['class'] ?? 'personal',
          from: search['from'] ?? me.home_zone ?? '',
          zone: search['to'] ?? me.home_zone ?? '',
          act: 'transfer',
        }}
        onSubmit={async (v) => {
          const of = bodyOf(fields, v);
          setVerdict({ ...(await change('POST', '/v1/residency/explain', of)), of });
        }}
      />
      <div aria-live="polite">
        {verdict && (
          <div className="flow-words">
            <Note
              variant={verdict.allowed ? 'success' : 'danger'}
              title={verdict.allowed ? t('residency.yes') : t('residency.no')}
            >
              {known && (
                <p>
                  {t(`residency.rule_${verdict.rule!}`, {
                    from: `\u2068${String(verdict.of['from'])}\u2069`,
                    to: `\u2068${String(verdict.of['zone'])}\u2069`,
                    what: t(`class.${String(verdict.of['data_class'])}`),
                  })}
                </p>
              )}
              <p>
                {t('residency.words')}:{' '}
                <bdi lang="en" dir="ltr" translate="no">
                  {verdict.text}
                </bdi>
              </p>
              <p>
                {t('residency.rule')}: <Code>{verdict.rule}</Code>
              </p>
              {verdict.remedy && <Remedy of={verdict.remedy} />}
              {verdict.policy_id && (
                <p>
                  {t('residency.policy')}: <Id value={verdict.policy_id} />
                </p>
              )}
            </Note>
          </div>
        )}
      </div>
    </div>
  );
}
