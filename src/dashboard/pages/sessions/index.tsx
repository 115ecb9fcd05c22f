import { type ReactNode, useId, useRef, useState } from 'react';
import type { SessionView } from '../../../wire/sessions.ts';
import { useEndSessions, useSessions } from '../../api/sessions.ts';
import { Button } from '../../parts/button.tsx';
import { ComputerIcon, PhoneIcon } from '../../parts/icons.tsx';
import { Deadline, Moment } from '../../parts/moment.tsx';
import { Page } from '../../parts/page.tsx';
import { Refusal } from '../../parts/refusal.tsx';
import { Waiting } from '../../parts/waiting.tsx';
import { browserName, isPhone } from '../../text/browser-name.ts';

/** The browsers in which the user is signed in. The one of this page ends by signing out. */
export function SessionsPage(): ReactNode {
  const { data: sessions, error, refetch } = useSessions();
  const end = useEndSessions();
  const [ended, setEnded] = useState('');
  const others = sessions?.filter(({ current }) => !current) ?? [];
  const endThese = (ids: readonly string[], report: string): void => {
    setEnded('');
    end.mutate(ids, { onSuccess: () => setEnded(report) });
  };
  return (
    <Page
      title="Sessions"
      intro="The browsers in which you are signed in. End each one that you do not recognize."
      actions={
        others.length === 0 ? undefined : (
          <EndOthers
            count={others.length}
            busy={end.isPending}
            onEnd={() =>
              endThese(
                others.map(({ id }) => id),
                'All other sessions have ended.',
              )
            }
          />
        )
      }
    >
      <Refusal error={end.error} />
      <output className="visually-hidden">{ended}</output>
      {sessions === undefined ? (
        <Waiting error={error} name="sessions" onRetry={() => void refetch()} />
      ) : (
        <ul className="rows" aria-label="Sessions">
          {sessions.map((session) => (
            <SessionRow
              key={session.id}
              session={session}
              busy={end.isPending}
              onEnd={() => endThese([session.id], `The session of ${browserName(session.userAgent)} has ended.`)}
            />
          ))}
        </ul>
      )}
      {sessions !== undefined && others.length === 0 ? (
        <p className="empty">You are signed in nowhere else.</p>
      ) : undefined}
    </Page>
  );
}

const ways: Readonly<Record<string, string>> = {
  personal_token: 'a personal token',
  oidc: 'single sign-on',
  passkey: 'a passkey',
  link: 'a sign-in link',
};

interface SessionRowProps {
  readonly session: SessionView;
  readonly busy: boolean;
  readonly onEnd: () => void;
}

function SessionRow({ session, busy, onEnd }: SessionRowProps): ReactNode {
  const { userAgent, current, sourceAddress, signedInWith } = session;
  const name = browserName(userAgent);
  return (
    <li className="row">
      <span className="row-icon">{isPhone(userAgent) ? <PhoneIcon /> : <ComputerIcon />}</span>
      <div className="row-text">
        <p className="row-title">
          <span title={userAgent ?? undefined}>{name}</span>
          {current ? <span className="badge">This browser</span> : undefined}
          {sourceAddress === null ? undefined : <span className="row-address mono">{sourceAddress}</span>}
        </p>
        <p className="row-facts">
          <span>
            Signed in <Moment at={session.createdAt} /> with {ways[signedInWith] ?? signedInWith}
          </span>
          <span>
            Last used <Moment at={session.lastUsedAt} />
          </span>
          <span>
            Ends <End session={session} />
          </span>
        </p>
      </div>
      {current ? undefined : (
        <Button
          look="plain"
          busy={busy}
          onClick={onEnd}
          aria-label={`End the session of ${name}, ${sourceAddress ?? 'no address'}`}
        >
          End
        </Button>
      )}
    </li>
  );
}

/** The session of this page is in use, so its end is the latest one. Another one ends earlier if it is not used. */
function End({ session: { current, expiresAt, idleExpiresAt } }: { readonly session: SessionView }): ReactNode {
  if (!current && Date.parse(idleExpiresAt) < Date.parse(expiresAt)) {
    return (
      <>
        <Deadline at={idleExpiresAt} /> if not used
      </>
    );
  }
  return (
    <>
      <Deadline at={expiresAt} /> at the latest
    </>
  );
}

interface EndOthersProps {
  readonly count: number;
  readonly busy: boolean;
  readonly onEnd: () => void;
}

/** A button and the dialog that asks before it ends several sessions. */
function EndOthers({ count, busy, onEnd }: EndOthersProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const many = count === 1 ? 'one other session' : `${count} other sessions`;
  return (
    <>
      <Button look="danger" busy={busy} onClick={() => dialog.current?.showModal()}>
        End all others
      </Button>
      <dialog ref={dialog} className="dialog" aria-labelledby={title}>
        <h2 id={title}>End {many}?</h2>
        <p>Each of these browsers must sign in again. This browser stays signed in.</p>
        <div className="dialog-buttons">
          <Button onClick={() => dialog.current?.close()}>Cancel</Button>
          <Button
            look="danger"
            onClick={() => {
              dialog.current?.close();
              onEnd();
            }}
          >
            End {many}
          </Button>
        </div>
      </dialog>
    </>
  );
}
