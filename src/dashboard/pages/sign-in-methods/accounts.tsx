import { type ReactNode, useState } from 'react';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import type { IdentityView } from '../../../wire/identities.ts';
import { useIdentities, useUnlink } from '../../api/identities.ts';
import { Moment } from '../../parts/moment.tsx';
import { Refusal } from '../../parts/refusal.tsx';
import { AskFirst } from '../../parts/ask-first.tsx';
import { Waiting } from '../../parts/waiting.tsx';
import { CreatedBy } from './created-by.tsx';

/** The accounts of OpenID Connect that are linked to the user. Without an issuer and without an account there is nothing. */
export function Accounts({ issuer }: { readonly issuer: string | undefined }): ReactNode {
  const { data: identities, error, refetch } = useIdentities();
  const unlink = useUnlink();
  const [done, setDone] = useState('');
  if (issuer === undefined && (identities?.length ?? 0) === 0) return undefined;
  const query = new URLSearchParams({ link: '1', returnTo: dashboardPaths.signInMethods });
  return (
    <section className="methods" aria-labelledby="accounts">
      <div className="methods-head">
        <h2 id="accounts">Linked accounts</h2>
        {issuer !== undefined && identities?.length === 0 ? (
          <a className="button button-plain" href={`/sign-in/oidc?${query.toString()}`}>
            Link {issuer}
          </a>
        ) : undefined}
      </div>
      <Refusal error={unlink.error} />
      <output className="visually-hidden">{done}</output>
      {identities === undefined ? (
        <Waiting error={error} name="accounts" onRetry={() => void refetch()} />
      ) : (
        <AccountList
          identities={identities}
          busy={unlink.isPending}
          onUnlink={(id) => unlink.mutate(id, { onSuccess: () => setDone('The account is unlinked.') })}
        />
      )}
    </section>
  );
}

interface AccountListProps {
  readonly identities: readonly IdentityView[];
  readonly busy: boolean;
  readonly onUnlink: (id: string) => void;
}

function AccountList({ identities, busy, onUnlink }: AccountListProps): ReactNode {
  if (identities.length === 0) return <p className="empty">No account is linked.</p>;
  return (
    <ul className="rows" aria-label="Linked accounts">
      {identities.map((identity) => (
        <AccountRow key={identity.id} identity={identity} busy={busy} onUnlink={() => onUnlink(identity.id)} />
      ))}
    </ul>
  );
}

interface AccountRowProps {
  readonly identity: IdentityView;
  readonly busy: boolean;
  readonly onUnlink: () => void;
}

function AccountRow({ identity, busy, onUnlink }: AccountRowProps): ReactNode {
  const { issuer, subject, createdAt, lastSignInAt, createdBy } = identity;
  const host = hostOf(issuer);
  return (
    <li className="row">
      <div className="row-text">
        <p className="row-title">
          <span>{host}</span>
          <span className="row-address mono">{subject}</span>
        </p>
        <p className="row-facts">
          <span>
            Linked <Moment at={createdAt} />
          </span>
          <span>{lastSignInAt === null ? 'Never used' : <>Last used {<Moment at={lastSignInAt} />}</>}</span>
          <CreatedBy creator={createdBy} />
        </p>
      </div>
      <div className="row-buttons">
        <AskFirst
          label={`Unlink the account of ${host}`}
          verb="Unlink"
          question={`Unlink the account of ${host}?`}
          detail="It signs in no more, and sessions that began with it end."
          busy={busy}
          onConfirm={onUnlink}
        />
      </div>
    </li>
  );
}

function hostOf(address: string): string {
  return URL.parse(address)?.host ?? address;
}
