// SPDX-License-Identifier: Apache-2.0
// conflict.tsx - somebody changed it meanwhile (412): what was, what is now, what was wanted; and the choice between the two.
import { Button, Label, Modal, ModalBody, ModalFooter, ModalHeader } from '@patternfly/react-core';
import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useState } from 'react';
import { Trans, useTranslation } from 'react-i18next';
import type { Changed } from '../api/problem.ts';
import { useSession } from '../shell/session.tsx';
import { Alert } from './alert.tsx';
import { Code, Name, shortId, Time } from './bits.tsx';
import { differences } from '../lib/diff.ts';
import { ServerWords, useProblemText } from './states.tsx';

type Versioned = { version: number } & Record<string, unknown>;
/**
 * What a form was filled from. `version` makes its tag; `read` reads it again; `view` gives the values of the form's fields where they are
 * not the object's own.
 */
export interface Lock {
  was: Versioned;
  view?: (object: Versioned) => Record<string, unknown>;
  read: () => Promise<Versioned>;
}
export const tagOf = (o: { version: number }): string => `"v${o.version}"`;

interface Props {
  fields: readonly { name: string; label: string }[];
  was: Record<string, unknown>;
  mine: Record<string, unknown>;
  theirs: Record<string, unknown>;
  changed: Changed | null;
  reload: () => void;
  overwrite: () => Promise<void>;
  close: () => void;
}

function Who({ changed }: { changed: Changed }) {
  const { t } = useTranslation();
  const { me } = useSession();
  if (changed.kind === 'user' && changed.id === me.user_id) return <>{t('conflict.you')}</>;
  if (changed.name !== '') return <Name>{changed.name}</Name>;
  return changed.id !== '' ? <Code>{shortId(changed.id)}</Code> : <>{t(`conflict.kind_${changed.kind}`)}</>;
}

export function Conflict({ fields, was, mine, theirs, changed, reload, overwrite, close }: Props) {
  const { t } = useTranslation();
  const text = useProblemText();
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const rows = differences(fields, was, mine, theirs);
  const send = async (): Promise<void> => {
    setSending(true);
    setProblem(null);
    try {
      await overwrite();
    } catch (p) {
      setProblem(p);
      setSending(false);
    }
  };
  return (
    <Modal isOpen variant="medium" onClose={close} aria-labelledby="conflict-title" className="conflict">
      <ModalHeader
        title={t('conflict.title')}
        labelId="conflict-title"
        titleIconVariant="warning"
        description={t('conflict.body')}
      />
      <ModalBody>
        {changed && (
          <p className="changed-by">
            <Trans
              i18nKey="conflict.changed"
              components={{ who: <Who changed={changed} />, at: <Time at={changed.at} /> }}
            />
          </p>
        )}
        {problem !== null && (
          <Alert isInline variant="danger" title={text(problem)}>
            <ServerWords problem={problem} />
          </Alert>
        )}
        {rows.length === 0 ? (
          <p>{t('conflict.none')}</p>
        ) : (
          <Table variant="compact" aria-label={t('conflict.title')} gridBreakPoint="grid-md">
            <Thead>
              <Tr>
                <Th>{t('conflict.field')}</Th>
                <Th modifier="wrap">{t('conflict.was')}</Th>
                <Th>{t('conflict.theirs')}</Th>
                <Th>{t('conflict.mine')}</Th>
                <Th screenReaderText={t('conflict.by')} />
              </Tr>
            </Thead>
            <Tbody>
              {rows.map((r) => (
                <Tr key={r.name}>
                  <Td dataLabel={t('conflict.field')}>{r.label}</Td>
                  {(['was', 'theirs', 'mine'] as const).map((k) => (
                    <Td key={k} dataLabel={t(`conflict.${k}`)}>
                      <bdi className={k === 'was' || r[k] === r.was ? 'name' : 'name changed'}>
                        {r[k] === '' ? t('conflict.nothing') : r[k]}
                      </bdi>
                    </Td>
                  ))}
                  <Td dataLabel={t('conflict.by')}>
                    {r.by === 'both' && (
                      <Label isCompact color="orange">
                        {t('conflict.both')}
                      </Label>
                    )}
                  </Td>
                </Tr>
              ))}
            </Tbody>
          </Table>
        )}
      </ModalBody>
      <ModalFooter>
        <Button onClick={reload}>{t('conflict.reload')}</Button>
        <Button variant="secondary" isDanger isLoading={sending} isDisabled={sending} onClick={() => void send()}>
          {t('conflict.overwrite')}
        </Button>
        <Button variant="link" onClick={close}>
          {t('conflict.back')}
        </Button>
      </ModalFooter>
    </Modal>
  );
}
