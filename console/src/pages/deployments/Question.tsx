// SPDX-License-Identifier: Apache-2.0
// Question.tsx - one input of the model as a field: lines of text in their own direction, or rows of numbers with a square to draw on
// where a row makes one.
import {
  Button,
  FormGroup,
  FormHelperText,
  FormSelect,
  FormSelectOption,
  HelperText,
  TextArea,
  TextInput,
} from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FaultText } from '../../ui/faulttext.tsx';
import { number } from '../../lib/format.ts';
import { isText, readNumbers, sideOf, tensorOf, widthOf, type Tensor } from '../../lib/tensors.ts';
import { Drawing } from './Drawing.tsx';

const INK = 16;

interface Props {
  tensor: Tensor;
  text: string;
  isFirst: boolean;
  onChange: (text: string) => void;
  /** A row of the training data, where this person may read it. */
  sample: (() => void) | null;
  isSampling: boolean;
}

export function Question({ tensor, text, isFirst, onChange, sample, isSampling }: Props) {
  const { t } = useTranslation();
  const [ink, setInk] = useState(String(INK));
  const [touched, setTouched] = useState(false);
  const id = `play-${tensor.name.replace(/[^\w-]/g, '-')}`;
  const width = widthOf(tensor);
  const side = sideOf(tensor);
  const seen = tensorOf(tensor, text);
  const fault = 'fault' in seen && touched ? seen.fault : null;
  const read = readNumbers(text);
  const cells = read.ok ? Array.from({ length: width }, (_, i) => read.numbers[i] ?? 0) : Array<number>(width).fill(0);
  const label = isText(tensor)
    ? t('play.texts', { name: `\u2068${tensor.name}\u2069` })
    : t('play.rowOf', { count: width, n: number(width), name: `\u2068${tensor.name}\u2069` });
  const help = fault ? t(fault.key, fault.values) : isText(tensor) ? t('play.textHelp') : t('play.rowHelp');
  if (tensor.datatype === 'BOOL' && width === 1)
    return (
      <FormGroup label={label} fieldId={id}>
        <FormSelect id={id} value={text || '0'} onChange={(_e, v) => onChange(v)}>
          <FormSelectOption value="0" label={t('play.no')} />
          <FormSelectOption value="1" label={t('play.yes')} />
        </FormSelect>
      </FormGroup>
    );
  return (
    <div className="play-input">
      {side > 1 && (
        <Drawing
          label={t('play.drawing', { side })}
          side={side}
          values={cells}
          ink={Number(ink) || 1}
          onChange={(v) => onChange(v.join(','))}
        />
      )}
      <div className="play-text">
        <FormGroup label={label} fieldId={id} isRequired>
          <TextArea
            id={id}
            value={text}
            rows={side > 1 ? 7 : 4}
            resizeOrientation="vertical"
            validated={fault ? 'error' : 'default'}
            aria-describedby={`${id}-help`}
            spellCheck={false}
            {...(isText(tensor) ? { dir: 'auto' as const } : { dir: 'ltr' as const, className: 'mono' })}
            onChange={(_e, v) => {
              setTouched(true);
              onChange(v);
            }}
          />
          <FormHelperText>
            <HelperText id={`${id}-help`}>
              <FaultText bad={Boolean(fault)}>{help}</FaultText>
            </HelperText>
          </FormHelperText>
        </FormGroup>
        {!isText(tensor) && (
          <div className="play-acts">
            {isFirst && sample && (
              <Button
                variant="secondary"
                size="sm"
                onClick={sample}
                isLoading={isSampling}
                spinnerAriaValueText={t('state.loading')}
              >
                {t('play.sample')}
              </Button>
            )}
            {side > 1 && (
              <label className="play-ink" htmlFor={`${id}-ink`}>
                {t('play.ink')}
                <TextInput id={`${id}-ink`} value={ink} inputMode="decimal" dir="ltr" onChange={(_e, v) => setInk(v)} />
              </label>
            )}
          </div>
        )}
        {isFirst && sample && <p className="lead">{t('play.sampleHelp')}</p>}
      </div>
    </div>
  );
}
