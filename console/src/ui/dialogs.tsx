// SPDX-License-Identifier: Apache-2.0
// dialogs.tsx - a form in a dialog; and the dialog of acts that cannot be taken back, which wants the name typed.
import { Button, ClipboardCopy, Modal, ModalBody, ModalHeader } from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { UseFormReturn } from 'react-hook-form';
import { useTranslation } from 'react-i18next';
import { Alert } from './alert.tsx';
import { withFilter, type Search } from '../lib/search.ts';
import type { Lock } from './conflict.tsx';
import { ApiForm, type Field, type Values, type ValuesOf } from './form.tsx';
import { AskToLeave } from './unsaved.tsx';

interface FormDialog<F extends readonly Field[]> {
  label: string;
  title: string;
  fields: F;
  initial?: Values;
  submit?: string;
  onSubmit: (v: ValuesOf<F>, tag: string) => Promise<void>;
  variant?: 'primary' | 'secondary' | 'link';
  lead?: ReactNode;
  lock?: Lock;
  /** What no field of a list can be, below the fields. */
  extra?: (form: UseFormReturn<Values>) => ReactNode;
  extraNames?: readonly string[];
  size?: 'small' | 'medium' | 'large';
  onOpen?: () => void;
  /** false: what the form offers is still being asked for; it opens once that is known, since its first choices stay. */
  ready?: boolean;
  /** `new=…` in the address opens it: so menus and links lead to it. */
  opens?: string;
}

interface FormEnd {
  submit: string;
  close: () => void;
}
/** The open dialog of a form. What was typed is not lost by a slip: closing it asks first. */
export function FormModal<const F extends readonly Field[]>(props: Omit<FormDialog<F>, 'label'> & FormEnd) {
  const { title, fields, initial, submit, onSubmit, lead, lock, extra, extraNames, size = 'small', close } = props;
  const dirty = useRef(false);
  const [asking, setAsking] = useState(false);
  return (
    <Modal
      isOpen
      variant={size}
      onClose={() => (dirty.current ? setAsking(true) : close())}
      aria-labelledby="dialog-title"
    >
      <ModalHeader title={title} labelId="dialog-title" />
      <ModalBody>
        {asking && (
          <AskToLeave
            stay={() => setAsking(false)}
            leave={() => {
              setAsking(false);
              close();
            }}
          />
        )}
        {lead}
        <ApiForm
          fields={fields}
          {...(initial ? { initial } : {})}
          {...(extra ? { extra } : {})}
          {...(extraNames ? { extraNames } : {})}
          submit={submit}
          {...(lock ? { lock } : {})}
          onDirty={(is) => void (dirty.current = is)}
          onCancel={close}
          onSubmit={async (v, tag) => {
            await onSubmit(v, tag);
            close();
          }}
        />
      </ModalBody>
    </Modal>
  );
}

export function FormButton<const F extends readonly Field[]>(props: FormDialog<F>) {
  const { label, submit, variant = 'primary', opens, onOpen, ready = true } = props;
  const navigate = useNavigate();
  const search: Search = useSearch({ strict: false });
  const [here, setHere] = useState(false);
  const named = opens !== undefined && search['new'] === opens;
  useEffect(() => {
    if (named) onOpen?.();
  }, [named]);
  const setOpen = (is: boolean): void => {
    setHere(is);
    if (!is && named) void navigate({ to: '.', search: withFilter(search, 'new', '') as never, replace: true });
  };
  return (
    <>
      <Button
        variant={variant}
        onClick={() => {
          onOpen?.();
          setOpen(true);
        }}
      >
        {label}
      </Button>
      {(here || named) && ready && <FormModal {...props} submit={submit ?? label} close={() => setOpen(false)} />}
    </>
  );
}

interface Typed {
  label: string;
  title: string;
  name: string;
  effect: ReactNode;
  reason?: boolean;
  onConfirm: (reason: string) => Promise<void>;
  variant?: 'danger' | 'link' | 'secondary';
  why?: string;
}

/** why: the reason for which the act is not possible now; the button is then disabled and says it. */
export function TypedConfirm({ label, title, name, effect, reason, onConfirm, variant = 'danger', why }: Typed) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const escaped = new RegExp(`^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
  const fields: Field[] = [
    { name: 'name', label: t('confirm.type', { name: `\u2068${name}\u2069` }), required: true, pattern: escaped },
  ];
  if (reason) fields.push({ name: 'reason', label: t('confirm.reason'), kind: 'area', required: true, max: 512 });
  return (
    <>
      <Button
        variant={variant}
        {...(variant === 'danger' ? {} : { isDanger: true })}
        isInline={variant === 'link'}
        isAriaDisabled={why !== undefined}
        title={why ?? ''}
        onClick={() => why === undefined && setOpen(true)}
      >
        {label}
      </Button>
      {open && (
        <Modal isOpen variant="small" onClose={() => setOpen(false)} aria-labelledby="dialog-title">
          <ModalHeader
            title={title}
            labelId="dialog-title"
            titleIconVariant="warning"
            titleScreenReaderText={t('state.warning')}
          />
          <ModalBody>
            <div className="effect">{effect}</div>
            <ApiForm
              fields={fields}
              submit={label}
              danger
              casual
              onCancel={() => setOpen(false)}
              onSubmit={async (v) => {
                await onConfirm(String(v['reason'] ?? ''));
                setOpen(false);
              }}
            />
          </ModalBody>
        </Modal>
      )}
    </>
  );
}

/** A secret that is shown this once. */
export function OnceSecret({ title, secrets, onClose }: { title: string; secrets: string[]; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Modal isOpen variant="medium" onClose={onClose} aria-labelledby="once-title">
      <ModalHeader title={title} labelId="once-title" />
      <ModalBody>
        <Alert isInline variant="warning" variantLabel={t('state.warning')} title={t('confirm.once')} />
        {secrets.map((s) => (
          <div key={s} className="cli-line">
            <ClipboardCopy
              isReadOnly
              hoverTip={t('act.copy')}
              clickTip={t('act.copied')}
              textAriaLabel={title}
              dir="ltr"
            >
              {s}
            </ClipboardCopy>
          </div>
        ))}
        <Button className="once-done" onClick={onClose}>
          {t('confirm.kept')}
        </Button>
      </ModalBody>
    </Modal>
  );
}
