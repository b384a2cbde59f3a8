// SPDX-License-Identifier: Apache-2.0
// session.tsx - who is signed in and what they may do. Roles shape what is drawn; the API decides what is done.
import { Spinner } from '@patternfly/react-core';
import { useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  lazy,
  Suspense,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from 'react';
import { useTranslation } from 'react-i18next';
import { change, get, setAsk, setCsrf, type Schemas, type Session } from '../api/client.ts';
import { startLive } from '../api/live.ts';
import { Problem } from '../api/problem.ts';
import { startProof } from '../api/proof.ts';
import { withWords } from '../i18n.ts';
import { dropDrafts } from '../lib/kept-draft.ts';
import { setListUser } from '../lib/lists.ts';
import { Failure } from '../ui/states.tsx';
import { invitation } from './invitation.ts';
import { placeToReturn } from './login/place.ts';

const readAgain = withWords(['door'], () => import('./Again.tsx'));
const Again = lazy(readAgain);
const Login = lazy(withWords(['door'], () => import('./Login.tsx').then((m) => ({ default: m.Login }))));
const Accept = lazy(withWords(['door'], () => import('./Accept.tsx')));

export type Me = Schemas['me_out'];
interface Value {
  session: Session;
  me: Me;
  can: (permission: string) => boolean;
  role: (name: string) => boolean;
  leave: () => Promise<void>;
  /** After a change of what is said of the person or the organisation. */
  readMe: () => Promise<void>;
}
const Context = createContext<Value | null>(null);
export const useSession = (): Value => useContext(Context)!;

/** Draws its children for who is signed in, the login for everybody else; over them, when asked, the login again or a fresh proof. */
export function SessionGate({ children }: { children: ReactNode }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [session, setSession] = useState<Session | null | undefined>(undefined);
  const [begun, setBegun] = useState<Session | null>(null);
  const [me, setMe] = useState<Me | null>(null);
  const [away, setAway] = useState<Problem | null>(null);
  const [question, setQuestion] = useState<'login' | 'proof' | null>(null);
  const answer = useRef<((ok: boolean) => void) | null>(null);

  const enter = useCallback(async (s: Session) => {
    setCsrf(s.csrf_token ?? '');
    if (location.pathname === '/login') return location.replace(placeToReturn());
    const who = await get('/v1/me');
    setListUser(who.user_id ?? 'nobody');
    setMe(who);
    setSession(s);
  }, []);
  const begin = useCallback(() => {
    setAway(null);
    get('/v1/auth/session')
      .then((s) => {
        if (!s.mfa_required && !s.mfa_enrol_required) return enter(s);
        setBegun(s);
        return setSession(null);
      })
      .catch((p: unknown) => (p instanceof Problem && p.status === 0 ? setAway(p) : setSession(null)));
  }, [enter]);
  useEffect(() => {
    if (!invitation) begin();
  }, [begin]);
  useEffect(() => {
    setAsk((what) =>
      session
        ? new Promise((done) => {
            answer.current = done;
            setQuestion(what);
          })
        : Promise.resolve(false),
    );
  }, [session]);
  const settle = (ok: boolean): void => {
    setQuestion(null);
    answer.current?.(ok);
    answer.current = null;
  };
  const leave = useCallback(async () => {
    await change('POST', '/v1/auth/logout').catch(() => undefined);
    dropDrafts(sessionStorage);
    setCsrf('');
    setBegun(null);
    client.clear();
    setSession(null);
  }, [client]);
  const readMe = useCallback(async () => setMe(await get('/v1/me')), []);
  const value = useMemo<Value | null>(
    () =>
      session && me
        ? {
            session,
            me,
            leave,
            readMe,
            can: (p) => me.permissions.includes(p),
            role: (n) => me.roles.includes(n),
          }
        : null,
    [session, me, leave, readMe],
  );

  useEffect(() => (value ? startLive(client, value.can) : undefined), [client, value]);
  useEffect(() => {
    const tenant = value?.me.tenant_id;
    return tenant && value.can('audit:read') ? startProof(tenant) : undefined;
  }, [value]);
  // Read before it is asked for: a session ends at the worst moment.
  useEffect(() => {
    if (!value) return undefined;
    const timer = setTimeout(() => void readAgain().catch(() => undefined), 3000);
    return () => clearTimeout(timer);
  }, [value]);

  const wait = (
    <main className="centre">
      <Spinner aria-label={t('state.loading')} />
    </main>
  );
  if (invitation)
    return (
      <Suspense fallback={wait}>
        <Accept />
      </Suspense>
    );
  if (away)
    return (
      <main className="centre">
        <Failure problem={away} retry={begin} />
      </main>
    );
  if (session === undefined) return wait;
  if (!value)
    return (
      <Suspense fallback={wait}>
        <Login {...(begun ? { begun } : {})} onDone={(s) => void enter(s)} />
      </Suspense>
    );
  return (
    <Context.Provider value={value}>
      {children}
      {question !== null && (
        <Suspense fallback={null}>
          <Again question={question} me={value.me} settle={settle} />
        </Suspense>
      )}
    </Context.Provider>
  );
}
