import { type ReactNode, useState } from 'react';
import type { InvitationView } from '../../../wire/invitations.ts';
import { useAnswerInvitation, useInvitations } from '../../api/invitations.ts';
import { Button } from '../../parts/button.tsx';
import { Deadline, Moment } from '../../parts/moment.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { Refusal } from '../../parts/refusal.tsx';
import { Waiting } from '../../parts/waiting.tsx';

/** The roles that wait for the consent of the user. */
export function InvitationsPage(): ReactNode {
  const { data: invitations, error, refetch } = useInvitations();
  const answer = useAnswerInvitation();
  const [answered, setAnswered] = useState('');
  const give = (invitation: InvitationView, verb: 'accept' | 'decline'): void => {
    setAnswered('');
    const report = verb === 'accept' ? `You have the role ${invitation.role} on` : 'You declined the invitation to';
    answer.mutate({ id: invitation.id, verb }, { onSuccess: () => setAnswered(`${report} ${placeOf(invitation)}.`) });
  };
  return (
    <Page
      title="Invitations"
      intro="Roles that others give you. You have none of them until you accept. Accept only from a person you know."
    >
      <Refusal error={answer.error} />
      {answered === '' ? undefined : <Notice kind="info">{answered}</Notice>}
      {invitations === undefined ? (
        <Waiting error={error} name="invitations" onRetry={() => void refetch()} />
      ) : (
        <Rows invitations={invitations} busy={answer.isPending} onAnswer={give} />
      )}
    </Page>
  );
}

interface RowsProps {
  readonly invitations: readonly InvitationView[];
  readonly busy: boolean;
  readonly onAnswer: (invitation: InvitationView, verb: 'accept' | 'decline') => void;
}

function Rows({ invitations, busy, onAnswer }: RowsProps): ReactNode {
  if (invitations.length === 0) return <p className="empty">No invitation waits for you.</p>;
  return (
    <ul className="rows" aria-label="Invitations">
      {invitations.map((invitation) => (
        <li key={invitation.id} className="row">
          <div className="row-text">
            <p className="row-title">
              <span className="mono">{placeOf(invitation)}</span>
              <span className="badge">{invitation.role}</span>
            </p>
            <p className="row-facts">
              <span>
                From {invitation.invitedBy.email} <Moment at={invitation.createdAt} />
              </span>
              <span>
                Ends <Deadline at={invitation.expiresAt} />
              </span>
            </p>
          </div>
          <div className="row-buttons">
            <Button
              look="primary"
              busy={busy}
              onClick={() => onAnswer(invitation, 'accept')}
              aria-label={`Accept the invitation to ${placeOf(invitation)}`}
            >
              Accept
            </Button>
            <Button
              busy={busy}
              onClick={() => onAnswer(invitation, 'decline')}
              aria-label={`Decline the invitation to ${placeOf(invitation)}`}
            >
              Decline
            </Button>
          </div>
        </li>
      ))}
    </ul>
  );
}

/** Such as `acme/shop`, for a role in a project. */
function placeOf({ organization, project, environment }: InvitationView): string {
  return [organization, project, environment].filter((part) => part !== null).join('/');
}
