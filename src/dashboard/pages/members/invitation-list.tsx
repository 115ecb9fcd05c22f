import type { ReactNode } from 'react';
import type { InvitationView } from '../../../wire/invitations.ts';
import { useWithdrawInvitation } from '../../api/roles.ts';
import { AskFirst } from '../../parts/ask-first.tsx';
import { Deadline, Moment } from '../../parts/moment.tsx';
import { Refusal } from '../../parts/refusal.tsx';
import { rolePlaceText } from '../../text/role-place.ts';

export interface InvitationListProps {
  readonly organization: string;
  readonly invitations: readonly InvitationView[];
}

/** The roles that wait for the consent of their users. */
export function InvitationList({ organization, invitations }: InvitationListProps): ReactNode {
  const withdraw = useWithdrawInvitation(organization);
  if (invitations.length === 0) return <p className="empty">No invitation waits.</p>;
  return (
    <>
      <Refusal error={withdraw.error} />
      <ul className="rows" aria-label="Waiting invitations">
        {invitations.map((invitation) => {
          const { id, user, role, invitedBy, createdAt, expiresAt } = invitation;
          return (
            <li key={id} className="row">
              <div className="row-text">
                <p className="row-title">
                  <span>{user.email}</span>
                  <span className="badge">{role}</span>
                  {user.id === null ? <span className="muted">By link</span> : undefined}
                </p>
                <p className="row-facts">
                  <span>In {rolePlaceText(invitation)}</span>
                  <span>
                    From {invitedBy.email} <Moment at={createdAt} />
                  </span>
                  <span>
                    Ends <Deadline at={expiresAt} />
                  </span>
                </p>
              </div>
              <div className="row-buttons">
                <AskFirst
                  label={`Withdraw the invitation of ${user.email}`}
                  verb="Withdraw"
                  question={`Withdraw the invitation of ${user.email}?`}
                  detail={user.id === null ? 'Its link works no more.' : 'It can no longer be accepted.'}
                  busy={withdraw.isPending}
                  onConfirm={() => withdraw.mutate(id)}
                />
              </div>
            </li>
          );
        })}
      </ul>
    </>
  );
}
