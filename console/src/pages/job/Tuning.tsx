// SPDX-License-Identifier: Apache-2.0
// Tuning.tsx - the ways of running that a training job tried before its first step, and the one it went on with.
import { useTranslation } from 'react-i18next';
import { number } from '../../lib/format.ts';
import { tuningOf } from '../../lib/jobresult.ts';
import { Code } from '../../ui/bits.tsx';
import { Grid } from '../../ui/grid.tsx';

export function Tuning({ result }: { result: unknown }) {
  const { t } = useTranslation();
  const whole = tuningOf(result);
  if (!whole || whole.rows.length === 0) return null;
  const gain = whole.ms_after > 0 ? whole.ms_before / whole.ms_after : 1;
  return (
    <>
      <h2 className="block">{t('job.tuning')}</h2>
      <p className="lead">
        {t('job.tuningLead', {
          steps: number(whole.steps),
          seconds: number(whole.seconds, 3),
          gain: number(gain, 3),
        })}{' '}
        {t(whole.bits_kept ? 'job.tuningSame' : 'job.tuningOther')}
      </p>
      <Grid
        label={t('job.tuning')}
        breakPoint="grid-md"
        heads={[t('job.tried'), t('job.perStep'), t('job.gain'), t('job.chosen')]}
        rows={whole.rows.map((r, k) => ({
          id: k,
          cells: [
            <Code key="what">{`${r.setting} ${r.value}`}</Code>,
            r.ms > 0 ? number(r.ms, 4) : t('job.notTried'),
            r.ms > 0 ? <bdi dir="ltr">{`${number(r.gain, 3)}×`}</bdi> : r.why && <bdi lang="en">{r.why}</bdi>,
            r.chosen ? t('job.chosenYes') : '',
          ],
        }))}
      />
    </>
  );
}
