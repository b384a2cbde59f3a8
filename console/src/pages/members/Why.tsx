// SPDX-License-Identifier: Apache-2.0
// Why.tsx - why somebody may or may not do something: the answer, each role with what it says, what is missing, who may.
import {
  Button,
  Card,
  CardBody,
  ExpandableSection,
  Form,
  FormGroup,
  FormHelperText,
  FormSelect,
  FormSelectOption,
  HelperText,
  HelperTextItem,
  TextInput,
} from '@patternfly/react-core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, type Schemas } from '../../api/client.ts';
import { useGet } from '../../api/hooks.ts';
import { PERMISSIONS, ROLES } from '../../api/gen/roles.ts';
import { permissionKey, rolesAt } from '../../lib/roles.ts';
import type { Search } from '../../lib/search.ts';
import { titleOf } from '../../lib/titles.ts';
import { useSession } from '../../shell/session.tsx';
import { Code, Name, To } from '../../ui/bits.tsx';
import { Note } from '../../ui/note.tsx';
import { ServerWords, useProblemText } from '../../ui/states.tsx';
import './members.css';
import { PersonField, userByName } from './parts.tsx';

type Answer = Schemas['explanation'];
const APPLIES = ['applies', 'applies_in_project'];

function Chain({ of: a, who, act }: { of: Answer; who: string; act: string }) {
  const { t, i18n } = useTranslation();
  const { me } = useSession();
  const permission = a.permission ?? act;
  const meaning = i18n.exists(permissionKey(permission)) ? t(permissionKey(permission)) : permission;
  const conditional = a.bindings.filter((b) => b.verdict !== 'lacks' && !APPLIES.includes(b.verdict ?? ''));
  const having = rolesAt(me.tenant === 'platform').filter((r) => ROLES[r]!.has.includes(permission));
  return (
    <>
      <Note
        variant={a.allowed ? 'success' : 'warning'}
        title={t(a.allowed ? 'members.yesWho' : 'members.noWho', { name: `\u2068${who}\u2069` })}
      >
        {meaning} (<Code>{permission}</Code>)
      </Note>
      <h3 className="block">{t('members.chain')}</h3>
      {a.bindings.length === 0 ? (
        <p>{t('members.holdsNone')}</p>
      ) : (
        <ol className="chain">
          {a.bindings.map((b) => (
            <li key={b.binding_id}>
              <strong>{i18n.exists(`role.${b.role!}`) ? t(`role.${b.role!}`) : b.role}</strong>,{' '}
              {t(`place.${b.place!}`)}
              {b.zone && (
                <>
                  {' '}
                  <Code>{b.zone}</Code>
                </>
              )}
              : {t(`members.verdict_${b.verdict!}`)}
            </li>
          ))}
        </ol>
      )}
      {!a.allowed && (
        <>
          <h3 className="block">{t('members.missing')}</h3>
          <p>
            {conditional.length > 0
              ? t('members.missingCondition')
              : t('members.missingRole', { roles: having.map((r) => t(`role.${r}`)).join(t('members.or')) })}
          </p>
        </>
      )}
      {a.who_may.length > 0 && (
        <>
          <h3 className="block">{t('members.whoMay')}</h3>
          <ul className="rows">
            {a.who_may.map((u) => (
              <li key={u.user_id}>
                <To to={`/members/${u.user_id!}`}>
                  <Name>{u.name}</Name>
                </To>
                <span>{t(`role.${u.role!}`)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

export function Why() {
  const { t } = useTranslation();
  const { me, can } = useSession();
  const text = useProblemText();
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const [name, setName] = useState(search['who'] ?? '');
  const [act, setAct] = useState(search['act'] ?? '');
  const [project, setProject] = useState('');
  const [zone, setZone] = useState('');
  const [address, setAddress] = useState('');
  const [mfa, setMfa] = useState('');
  const [busy, setBusy] = useState(false);
  const [strange, setStrange] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const [out, setOut] = useState<{ answer: Answer; who: string; act: string } | null>(null);
  const projects = useGet('/v1/projects', { page_size: 200 }, { enabled: can('project:read') });
  const ask = async (): Promise<void> => {
    setProblem(null);
    setStrange(false);
    const user = name.trim() === '' ? null : await userByName(name);
    if (user === undefined) return setStrange(true);
    const answer = await change('POST', '/v1/access/explain', {
      act: act.trim(),
      ...(user ? { user_id: user.user_id } : {}),
      ...(project ? { project_id: project } : {}),
      ...(zone ? { zone } : {}),
      ...(address.trim() ? { source_ip: address.trim() } : {}),
      ...(mfa ? { mfa_age_seconds: Number(mfa) } : {}),
    });
    setOut({ answer, who: user?.name ?? me.name ?? '', act: act.trim() });
    void navigate({ to: '.', search: { tab: 'why', who: name, act } as never, replace: true });
  };
  return (
    <div className="split">
      <Card>
        <CardBody>
          <Form
            noValidate
            onSubmit={(e) => {
              e.preventDefault();
              setBusy(true);
              ask()
                .catch(setProblem)
                .finally(() => setBusy(false));
            }}
          >
            {problem !== null && (
              <Note variant="danger" title={text(problem)}>
                <ServerWords problem={problem} />
              </Note>
            )}
            <PersonField
              id="why-who"
              label={t('members.userId')}
              help={t('members.userHelp')}
              value={name}
              bad={strange}
              onChange={setName}
            />
            <FormGroup label={t('members.act')} fieldId="why-act" isRequired>
              <TextInput
                id="why-act"
                list="why-acts"
                dir="ltr"
                isRequired
                autoComplete="off"
                value={act}
                onChange={(_e, v) => setAct(v)}
              />
              <datalist id="why-acts">
                {PERMISSIONS.map((p) => (
                  <option key={p} value={p} label={t(permissionKey(p))} />
                ))}
              </datalist>
              <FormHelperText>
                <HelperText>
                  <HelperTextItem>{t('members.actHelp')}</HelperTextItem>
                </HelperText>
              </FormHelperText>
            </FormGroup>
            <ExpandableSection toggleText={t('members.circumstances')} isIndented>
              <div className="fields">
                {can('project:read') && (
                  <FormGroup label={t('place.project')} fieldId="why-project">
                    <FormSelect id="why-project" value={project} onChange={(_e, v) => setProject(v)}>
                      <FormSelectOption value="" label={t('members.anyProject')} />
                      {(projects.data?.data ?? []).map((p) => (
                        <FormSelectOption key={p.project_id} value={p.project_id} label={titleOf(p)} />
                      ))}
                    </FormSelect>
                  </FormGroup>
                )}
                {me.allowed_zones.length > 0 && (
                  <FormGroup label={t('col.zone')} fieldId="why-zone">
                    <FormSelect id="why-zone" value={zone} onChange={(_e, v) => setZone(v)}>
                      <FormSelectOption value="" label={t('members.noZone')} />
                      {me.allowed_zones.map((z) => (
                        <FormSelectOption key={z} value={z} label={z} />
                      ))}
                    </FormSelect>
                  </FormGroup>
                )}
                <FormGroup label={t('members.fromAddress')} fieldId="why-ip">
                  <TextInput id="why-ip" dir="ltr" value={address} onChange={(_e, v) => setAddress(v)} />
                </FormGroup>
                <FormGroup label={t('settings.factor')} fieldId="why-mfa">
                  <FormSelect id="why-mfa" value={mfa} onChange={(_e, v) => setMfa(v)}>
                    <FormSelectOption value="" label={t('members.withoutMfa')} />
                    <FormSelectOption value="60" label={t('members.mfaAge', { count: 1 })} />
                    <FormSelectOption value="3600" label={t('members.mfaAge', { count: 60 })} />
                  </FormSelect>
                </FormGroup>
              </div>
            </ExpandableSection>
            <Button type="submit" isDisabled={busy || act.trim() === ''} className="once-done">
              {t('members.ask')}
            </Button>
          </Form>
        </CardBody>
      </Card>
      <div aria-live="polite">
        {out ? <Chain of={out.answer} who={out.who} act={out.act} /> : <p className="lead">{t('members.whyBody')}</p>}
      </div>
    </div>
  );
}
