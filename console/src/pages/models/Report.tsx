// SPDX-License-Identifier: Apache-2.0
// Report.tsx - of a version that was made smaller: which one it was made from, and what that changed.
import { Title } from '@patternfly/react-core';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { useGet } from '../../api/hooks.ts';
import { bytes, number, percent } from '../../lib/format.ts';
import type { Report as Made } from '../../lib/modelreport.ts';
import { Called, Code, Pairs, shortId, To } from '../../ui/bits.tsx';
import { Grid } from '../../ui/grid.tsx';

const SHOWN: Record<Made['rows'][number]['what'], (n: number, t: TFunction) => string> = {
  accuracy: (n) => percent(n),
  latency: (n, t) => t('models.micros', { n: number(n, 1) }),
  file: (n) => bytes(n),
  memory: (n) => bytes(n),
};

export function Report({ of }: { of: Made }) {
  const { t } = useTranslation();
  const parent = useGet(`/v1/models/${of.parent.id}`);
  return (
    <section aria-labelledby="report-title">
      <Title headingLevel="h3" size="md" className="block" id="report-title">
        {t('models.report')}
      </Title>
      <Pairs
        rows={[
          [
            t('models.parent'),
            <span key="p">
              <To to={`/models/${of.parent.id}`}>
                {parent.data ? <Called of={parent.data} /> : <Code>{shortId(of.parent.id)}</Code>}
              </To>{' '}
              · {t('datasets.version', { n: number(of.parent.version) })}
            </span>,
          ],
          [t('models.evaluated'), number(of.evaluated)],
          [t('models.agreement'), of.agreement === undefined ? '' : percent(of.agreement)],
        ]}
      />
      <Grid
        label={t('models.report')}
        breakPoint="grid-md"
        heads={[t('models.figure'), t('models.before'), t('models.after')]}
        rows={of.rows.map((r) => ({
          id: r.what,
          cells: [t(`models.r_${r.what}`), SHOWN[r.what](r.before, t), SHOWN[r.what](r.after, t)],
        }))}
      />
    </section>
  );
}
