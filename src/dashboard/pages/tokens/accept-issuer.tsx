import type { ReactNode } from 'react';
import { type ListedToken, useAcceptIssuer } from '../../api/service-tokens.ts';
import { AskFirst } from '../../parts/ask-first.tsx';
import { NeedsRecentSignIn } from '../../parts/needs-recent-sign-in.tsx';
import { Refusal } from '../../parts/refusal.tsx';

export interface AcceptIssuerProps {
  readonly organization: string;
  readonly token: ListedToken;
  /** Whether the token is refused until then. */
  readonly mustAccept: boolean;
  readonly onDone: (report: string) => void;
}

/** Accepts the issuer of a federated token after it was changed. Nothing if it was not, or was deleted. */
export function AcceptIssuer({ organization, token, mustAccept, onDone }: AcceptIssuerProps): ReactNode {
  const accept = useAcceptIssuer(organization);
  const { id, name, home, federation } = token;
  if (federation === undefined || federation.isAccepted || federation.issuerGeneration === null) return undefined;
  const { issuer, issuerGeneration: generation } = federation;
  return (
    <section className="drawer-section">
      <h3>Accept the issuer</h3>
      <p className="muted">
        An instance admin changed what proves the JWTs of {issuer}, such as its keys.{' '}
        {mustAccept
          ? 'The token is refused until an admin of the organization accepts it.'
          : 'The token works on, because the organization does not forbid impersonation.'}
      </p>
      {home.project === undefined ? (
        <>
          <NeedsRecentSignIn>To accept it</NeedsRecentSignIn>
          <Refusal error={accept.error} />
          <div className="drawer-buttons">
            <AskFirst
              label={`Accept the issuer of ${name}`}
              verb="Accept"
              question={`Accept generation ${generation} of ${issuer}?`}
              detail="From then on, its JWTs of today prove the token. Ask the instance admin what was changed, and why."
              busy={accept.isPending}
              onConfirm={() =>
                accept.mutate(
                  { id, generation },
                  { onSuccess: () => onDone(`Generation ${generation} of ${issuer} is accepted.`) },
                )
              }
            />
          </div>
        </>
      ) : undefined}
    </section>
  );
}
