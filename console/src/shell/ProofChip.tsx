// SPDX-License-Identifier: Apache-2.0
// ProofChip.tsx - in the masthead: until when this browser has proved that the log only grew; red when it did not.
import { Tooltip } from '@patternfly/react-core';
import { CheckCircleIcon, ExclamationTriangleIcon, HourglassHalfIcon } from '@patternfly/react-icons';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useProof } from '../api/proof.ts';
import { timeOfDay } from '../lib/format.ts';
import { usePrefs } from '../lib/prefs.ts';
import { inHead } from '../ui/overlay.ts';

export function ProofChip() {
  const { t } = useTranslation();
  const proof = useProof();
  usePrefs();
  if (proof.state === 'off') return null;
  const time = proof.pin ? timeOfDay(new Date(proof.pin.at).toISOString()).slice(0, 5) : '';
  const words =
    proof.state === 'broken'
      ? t('shell.forked')
      : proof.state === 'proved'
        ? t('shell.provedTo', { time: `\u2066${time}\u2069` })
        : t('shell.unproved');
  const Icon =
    proof.state === 'broken' ? ExclamationTriangleIcon : proof.state === 'proved' ? CheckCircleIcon : HourglassHalfIcon;
  return (
    <Tooltip content={t(`shell.proof_${proof.state}`)} aria="none" appendTo={inHead}>
      <Link to="/audit/proof" className={`proof-chip is-${proof.state}`} aria-label={words}>
        <Icon /> <span className="word">{words}</span>
      </Link>
    </Tooltip>
  );
}
