// SPDX-License-Identifier: Apache-2.0
// form.tsx - forms from a list of fields: checked here by zod, checked for good by the API, whose faults land at their fields.
//
// Nothing typed is lost: a refusal, a lost connection or a session that ended leaves the values where they are.
import {
  ActionGroup,
  Button,
  Checkbox,
  Form,
  FormGroup,
  FormHelperText,
  FormSelect,
  FormSelectOption,
  HelperText,
  HelperTextItem,
  TextArea,
  TextInput,
} from '@patternfly/react-core';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Controller, useForm, type FieldError, type FieldErrors, type UseFormReturn } from 'react-hook-form';
import { useTranslation } from 'react-i18next';
import { FaultText } from './faulttext.tsx';
import { Alert } from './alert.tsx';
import { z } from 'zod/mini';
import { placeFaults, Problem, type Changed, type FieldFault } from '../api/problem.ts';
import { asText } from '../lib/diff.ts';
import { isDay } from '../lib/calendar.ts';
import { latin } from '../lib/digits.ts';
import { Conflict, tagOf, type Lock } from './conflict.tsx';
import { ServerWords, useProblemText } from './states.tsx';
import { Unsaved } from './unsaved.tsx';

export interface Field {
  name: string;
  label: string;
  kind?: 'text' | 'number' | 'select' | 'area' | 'password' | 'check' | 'json' | 'code' | 'day';
  options?: readonly { value: string; label: string }[];
  required?: boolean;
  /** What several boxes that stand together are about; they follow each other in the list of fields. */
  group?: string;
  help?: string;
  min?: number;
  max?: number;
  pattern?: RegExp;
  autoComplete?: string;
  /** Asked for only while this holds of what stands in the other fields; else it is neither drawn nor judged. */
  when?: (values: Values) => boolean;
  /** An address or a code: written from left to right on every page. */
  ltr?: boolean;
  /** What no usual field is: drawn by its page; its value is text all the same, and may be a list as JSON. */
  draw?: (at: Drawn) => ReactNode;
}
export interface Drawn {
  id: string;
  value: string;
  onChange: (value: string) => void;
  form: UseFormReturn<Values>;
}
export type Values = Record<string, string | boolean>;
type One<F extends Field> = F extends { kind: 'check' }
  ? boolean
  : F extends { kind: 'select'; options: readonly { value: infer V }[] }
    ? V
    : string;
/** What a form of these fields gives. A list that was not written out gives texts and boxes by any name. */
export type ValuesOf<F extends readonly Field[]> = string extends F[number]['name']
  ? Values
  : { [K in F[number] as K['name']]: One<K> };
/** Fields with their names and kinds in their type. */
export const formFields = <const F extends readonly Field[]>(...fields: F): F => fields;
type Sent<F extends Field> = F extends { kind: 'number' } ? number : F extends { kind: 'json' } ? unknown : One<F>;
type Always = { required: true } | { kind: 'check' | 'select' };
export type BodyOf<F extends readonly Field[]> = {
  [K in F[number] as K extends Always ? K['name'] : never]: Sent<K>;
} & { [K in F[number] as K extends Always ? never : K['name']]?: Sent<K> };

const idOf = (f: Field): string => `f-${f.name.replaceAll('.', '-')}`;
export const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;

const isDigits = (f: Field): boolean => f.kind === 'number' || f.kind === 'code' || f.kind === 'day';

function schemaOf(f: Field) {
  if (f.kind === 'check') return z.prefault(z.boolean(), false);
  // A field that came into the form after it was opened (its choices were still read) has no value yet.
  const text = z.string().check(
    z.superRefine((v, ctx) => {
      const bad = (message: string): void => ctx.addIssue({ code: 'custom', message });
      if (v === '') return f.required ? bad('field.required') : undefined;
      if (f.kind === 'number') {
        const n = Number(v);
        if (!Number.isFinite(n)) return bad('field.number');
        if (f.min !== undefined && n < f.min) return bad('field.min');
        if (f.max !== undefined && n > f.max) return bad('field.max');
      } else if (f.kind === 'json') {
        try {
          JSON.parse(v);
        } catch {
          bad('field.json');
        }
      } else if (f.max !== undefined && v.length > f.max) return bad('field.long');
      if (f.kind === 'day' && !isDay(v)) bad('field.day');
      if (f.pattern && !f.pattern.test(v)) bad('field.pattern');
      return undefined;
    }),
  );
  return z.prefault(text, '');
}

/** What of a form goes to the API: empty fields stay away, numbers become numbers, JSON what it says. */
export function bodyOf<F extends readonly Field[]>(fields: F, values: Partial<ValuesOf<F>>): BodyOf<F> {
  const body: Record<string, unknown> = {};
  for (const f of fields) {
    const v = (values as Values)[f.name];
    if (v === undefined || v === '') continue;
    body[f.name] = f.kind === 'number' ? Number(v) : f.kind === 'json' ? (JSON.parse(String(v)) as unknown) : v;
  }
  return body as BodyOf<F>;
}

/** What the API said of one member, at its field. */
export function Refusal({ of: e }: { of: FieldError | undefined }) {
  const { t, i18n } = useTranslation();
  if (!e) return null;
  return (
    <>
      {i18n.exists(`problem.${String(e.type)}`) ? t(`problem.${String(e.type)}`) : t('problem.invalid_argument')}:{' '}
      <bdi lang="en" dir="ltr">
        {String(e.message)}
      </bdi>
    </>
  );
}

interface Props<F extends readonly Field[]> {
  fields: F;
  initial?: Values;
  submit: string;
  danger?: boolean;
  /** tag: for If-Match, where the form has a lock. */
  onSubmit: (values: ValuesOf<F>, tag: string) => Promise<void>;
  onCancel?: () => void;
  extra?: (form: UseFormReturn<Values>) => ReactNode;
  /** Members of the body that `extra` draws: what the API says of them stands in the form's errors. */
  extraNames?: readonly string[];
  /** The object that is changed: who changed it meanwhile is not overwritten unseen. */
  lock?: Lock;
  /** A question, not a change: it may be left half filled. */
  casual?: boolean;
  onDirty?: (dirty: boolean) => void;
}

/** The values of a form from an object as the API gave it. */
export const valuesOf = (fields: readonly Field[], from: Record<string, unknown>): Values =>
  Object.fromEntries(
    fields.map((f) => {
      const v = from[f.name];
      if (f.kind === 'check') return [f.name, v === true];
      return [f.name, v === undefined || v === null ? '' : f.kind === 'json' ? JSON.stringify(v, null, 2) : asText(v)];
    }),
  );

export function ApiForm<const F extends readonly Field[]>(props: Props<F>) {
  const { fields, initial, submit, danger, onSubmit, onCancel, extra, lock, casual = false, onDirty } = props;
  const { extraNames = [] } = props;
  const { t } = useTranslation();
  const text = useProblemText();
  const [problem, setProblem] = useState<unknown>(null);
  const [loose, setLoose] = useState<FieldFault[]>([]);
  const [was, setWas] = useState(lock?.was);
  const [conflict, setConflict] = useState<{ theirs: Lock['was']; values: Values; changed: Changed | null } | null>(
    null,
  );
  const router = useRouter({ warn: false }) as unknown;
  const sending = useRef(false);
  const dirty = useRef(false);
  const box = useRef<HTMLFormElement>(null);
  const said = useRef<HTMLDivElement>(null);
  const form = useForm<Values>({
    shouldFocusError: false,
    defaultValues: Object.fromEntries(
      fields.map((f) => [
        f.name,
        initial?.[f.name] ?? (f.kind === 'check' ? false : f.kind === 'select' ? (f.options?.[0]?.value ?? '') : ''),
      ]),
    ),
    resolver: (values) => {
      const errors: FieldErrors<Values> = {};
      const read = { ...values };
      for (const f of fields) {
        if (f.when?.(values) === false) {
          read[f.name] = '';
          continue;
        }
        const v = values[f.name];
        // Digits of the reader's own script count as those that programs read.
        if (typeof v === 'string' && isDigits(f)) read[f.name] = latin(v).trim();
        const r = schemaOf(f).safeParse(read[f.name]);
        if (!r.success) errors[f.name] = { type: 'check', message: r.error.issues[0]!.message };
      }
      return Object.keys(errors).length > 0 ? { values: {}, errors } : { values: read, errors: {} };
    },
  });
  const { errors, submitCount } = form.formState;
  // The first field that is wrong, or what is said of the whole: not every field of the kit takes the focus from its own library.
  useEffect(() => {
    if (submitCount === 0) return;
    const wrong = fields.find((f) => form.getFieldState(f.name).error);
    const place = wrong ? box.current?.querySelector<HTMLElement>(`[id="${idOf(wrong)}"]`) : said.current;
    place?.focus();
  }, [submitCount, problem]);
  const isDirty = form.formState.isDirty;
  dirty.current = isDirty && !casual && !sending.current;
  useEffect(() => onDirty?.(isDirty && !casual), [isDirty, casual, onDirty]);
  const send = async (values: Values, tag: string): Promise<void> => {
    sending.current = true;
    dirty.current = false;
    try {
      await onSubmit(values as ValuesOf<F>, tag);
      form.reset(values, { keepValues: true });
    } finally {
      sending.current = false;
    }
  };
  const formOf = (o: Lock['was']): Values => valuesOf(fields, lock?.view?.(o) ?? o);
  const go = form.handleSubmit(async (values) => {
    setProblem(null);
    try {
      await send(values, was ? tagOf(was) : '');
    } catch (p) {
      if (!(p instanceof Problem)) {
        setProblem(p);
        throw p;
      }
      if (p.status === 412 && lock) {
        const theirs = await lock.read().catch(() => null);
        if (theirs) return setConflict({ theirs, values, changed: p.changed });
      }
      setLoose(
        placeFaults(p, [...fields.map((f) => f.name), ...extraNames], (name, fault) =>
          form.setError(name, { type: fault.code, message: fault.detail }),
        ),
      );
      setProblem(p);
    }
    return undefined;
  });
  const now = fields.some((f) => f.when) ? form.watch() : {};
  const words = (f: Field): ReactNode => {
    const e = errors[f.name];
    if (!e) return null;
    if (e.type === 'check') return t(String(e.message), { min: f.min, max: f.max });
    return <Refusal of={e} />;
  };
  return (
    <Form noValidate ref={box} onSubmit={(e) => void go(e)} isWidthLimited>
      {problem !== null && (
        <div ref={said} tabIndex={-1}>
          <Alert isInline variant="danger" title={text(problem)}>
            {(loose.length > 0 || !(problem instanceof Problem) || problem.fields.length === 0) && (
              <ServerWords problem={problem} />
            )}
          </Alert>
        </div>
      )}
      {fields.map((f, at) => {
        if (f.when?.(now) === false) return null;
        if (f.group !== undefined) {
          if (fields[at - 1]?.group === f.group) return null;
          return (
            <FormGroup key={f.name} role="group" label={f.group} fieldId={idOf(f)}>
              {fields
                .filter((x) => x.group === f.group)
                .map((x) => (
                  <Controller
                    key={x.name}
                    control={form.control}
                    name={x.name}
                    render={({ field }) => (
                      <Checkbox
                        id={idOf(x)}
                        name={x.name}
                        ref={field.ref}
                        label={<bdi className="name">{x.label}</bdi>}
                        isChecked={field.value === true}
                        onBlur={field.onBlur}
                        onChange={(_e, on) => field.onChange(on)}
                      />
                    )}
                  />
                ))}
            </FormGroup>
          );
        }
        const id = idOf(f);
        const bad = errors[f.name] !== undefined;
        return (
          <FormGroup
            key={f.name}
            {...(f.kind === 'check' ? {} : { label: f.label })}
            fieldId={id}
            isRequired={f.required ?? false}
          >
            <Controller
              control={form.control}
              name={f.name}
              render={({ field }) => {
                const common = {
                  id,
                  name: f.name,
                  'aria-describedby': `${id}-help`,
                  'aria-invalid': bad,
                  ref: field.ref,
                  onBlur: field.onBlur,
                };
                const value = String(field.value ?? '');
                if (f.draw) return <f.draw id={id} value={value} onChange={field.onChange} form={form} />;
                const validated = bad ? ('error' as const) : ('default' as const);
                if (f.kind === 'check')
                  return (
                    <Checkbox
                      {...common}
                      label={f.label}
                      isChecked={field.value === true}
                      onChange={(_e, on) => field.onChange(on)}
                    />
                  );
                if (f.kind === 'select')
                  return (
                    <FormSelect {...common} value={value} validated={validated} onChange={(_e, v) => field.onChange(v)}>
                      {f.options!.map((o) => (
                        <FormSelectOption key={o.value} value={o.value} label={o.label} />
                      ))}
                    </FormSelect>
                  );
                if (f.kind === 'area' || f.kind === 'json')
                  return (
                    <TextArea
                      {...common}
                      value={value}
                      validated={validated}
                      rows={f.kind === 'json' ? 8 : 3}
                      autoResize={false}
                      {...(f.kind === 'json' ? { dir: 'ltr' as const, className: 'mono', spellCheck: false } : {})}
                      onChange={(_e, v) => field.onChange(v)}
                    />
                  );
                return (
                  <TextInput
                    {...common}
                    value={value}
                    validated={validated}
                    type={f.kind === 'password' ? 'password' : 'text'}
                    autoComplete={f.autoComplete ?? 'off'}
                    {...(f.kind === 'number' || f.kind === 'code' ? { inputMode: 'numeric' as const } : {})}
                    {...(f.pattern || f.ltr || f.kind === 'code' || f.kind === 'day' ? { dir: 'ltr' as const } : {})}
                    onChange={(_e, v) => field.onChange(v)}
                  />
                );
              }}
            />
            <FormHelperText>
              <HelperText id={`${id}-help`}>
                {bad ? <FaultText>{words(f)}</FaultText> : f.help ? <HelperTextItem>{f.help}</HelperTextItem> : null}
              </HelperText>
            </FormHelperText>
          </FormGroup>
        );
      })}
      {extra?.(form)}
      {router !== null && router !== undefined && !casual && <Unsaved dirty={dirty} />}
      {conflict && was && (
        <Conflict
          fields={fields}
          was={formOf(was)}
          mine={conflict.values}
          changed={conflict.changed}
          theirs={formOf(conflict.theirs)}
          close={() => setConflict(null)}
          reload={() => {
            form.reset(formOf(conflict.theirs));
            setWas(conflict.theirs);
            setConflict(null);
          }}
          overwrite={async () => {
            await send(conflict.values, tagOf(conflict.theirs));
            setConflict(null);
          }}
        />
      )}
      <ActionGroup>
        <Button
          type="submit"
          variant={danger ? 'danger' : 'primary'}
          isLoading={form.formState.isSubmitting}
          spinnerAriaValueText={t('state.loading')}
          isDisabled={form.formState.isSubmitting}
        >
          {submit}
        </Button>
        {onCancel && (
          <Button variant="link" onClick={onCancel}>
            {t('act.cancel')}
          </Button>
        )}
      </ActionGroup>
    </Form>
  );
}
