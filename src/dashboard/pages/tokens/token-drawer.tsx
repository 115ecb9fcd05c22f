import { type ReactNode, useState } from 'react';
import { generatePath, Link } from 'react-router';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import { type ListedToken, useReinstateToken, useRevokeToken } from '../../api/service-tokens.ts';
import { AskFirst } from '../../parts/ask-first.tsx';
import { Button } from '../../parts/button.tsx';
import { CopyCommand } from '../../parts/copy-command.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Deadline, Moment } from '../../parts/moment.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Refusal } from '../../parts/refusal.tsx';
import { useShownOnce } from '../../parts/shown-once.tsx';
import { type PlaceNames, revocationText } from '../../text/service-token.ts';
import { AcceptIssuer } from './accept-issuer.tsx';
import { ExplainJwt } from './explain-jwt.tsx';
import { Federation } from './federation.tsx';
import { RotateForm } from './rotate-form.tsx';
import { type NamedToken, TokenStatus } from './token-table.tsx';

export interface TokenDrawerProps extends NamedToken {
  readonly organization: string;
  /** Whether the user reads the audit. */
  readonly mayAudit: boolean;
  readonly names: PlaceNames | undefined;
  /** Whether a change of an issuer counts only after it was accepted. */
  readonly mustAccept: boolean;
  readonly onClose: () => void;
}

/** One token: what it may do, who made it, and its end. */
export function TokenDrawer({
  organization,
  mayAudit,
  token,
  state,
  place,
  names,
  mustAccept,
  onClose,
}: TokenDrawerProps): ReactNode {
  const value = useShownOnce('token', onClose);
  const [done, setDone] = useState('');
  const isLive = state !== 'revoked' && state !== 'expired';
  return (
    <Drawer title={token.name} actions={<TokenStatus state={state} />} onClose={value.close}>
      {done === '' ? undefined : <Notice kind="done">{done}</Notice>}
      {value.box}
      <TokenFacts token={token} place={place} />
      <Federation organization={organization} token={token} isAdmin={token.home.project === undefined} />
      {isLive ? (
        <AcceptIssuer organization={organization} token={token} mustAccept={mustAccept} onDone={setDone} />
      ) : undefined}
      <ExplainJwt token={token} />
      {isLive && hasValue(token) ? (
        <RotateForm
          organization={organization}
          token={token}
          onRotated={(rotated, report) => {
            value.show(rotated);
            setDone(report);
          }}
        />
      ) : undefined}
      {isLive ? <Revoke organization={organization} token={token} names={names} onDone={setDone} /> : undefined}
      {state === 'revoked' && token.holder !== null ? (
        <Reinstate organization={organization} token={token} place={place} onDone={setDone} />
      ) : undefined}
      {mayAudit ? (
        <section className="drawer-section">
          <h3>What it did</h3>
          <p>
            <Link to={`${generatePath(dashboardPaths.audit, { organization })}?actor=${token.id}`}>
              See it in the audit
            </Link>
          </p>
          <CopyCommand name="show what it did">{`keyframe audit -o ${organization} --actor ${token.id}`}</CopyCommand>
        </section>
      ) : undefined}
    </Drawer>
  );
}

function hasValue({ holder, federation }: ListedToken): boolean {
  return holder === null && federation === undefined;
}

function TokenFacts({ token, place }: { readonly token: ListedToken; readonly place: string }): ReactNode {
  const { holder, createdAt, createdByName, expiresAt, lastUsedAt, suspendedAt, revokedAt } = token;
  return (
    <Facts>
      <Fact name="May">{token.permission === 'read' ? 'Read secrets' : 'Read and write secrets'}</Fact>
      <Fact name="Within">{place}</Fact>
      <Fact name="Last used">{lastUsedAt === null ? 'Never' : <Moment at={lastUsedAt} />}</Fact>
      <Fact name="Expires">{expiresAt === null ? 'Never' : <Deadline at={expiresAt} />}</Fact>
      <Fact name="Suspended">{suspendedAt === null ? '' : <Moment at={suspendedAt} />}</Fact>
      <Fact name="Revoked">{revokedAt === null ? '' : <Moment at={revokedAt} />}</Fact>
      <Fact name="Created">
        <Moment at={createdAt} /> by {createdByName}
      </Fact>
      <Fact name="For">{holder === null ? '' : `The SecretSyncs of the namespace ${holder.namespace}`}</Fact>
      <Fact name="Cluster">{holder?.cluster ?? token.cluster}</Fact>
      <Fact name="Id">
        <span className="mono">{token.id}</span>
      </Fact>
    </Facts>
  );
}

interface ChangeProps {
  readonly organization: string;
  readonly token: ListedToken;
  readonly onDone: (report: string) => void;
}

function Revoke({
  organization,
  token,
  names,
  onDone,
}: ChangeProps & { readonly names: PlaceNames | undefined }): ReactNode {
  const revoke = useRevokeToken(organization);
  const { lastUsedAt } = token;
  return (
    <section className="drawer-section">
      <h3>Revoke</h3>
      <p className="muted">Ends its access at once, on every server. Do this if the token has leaked.</p>
      <Refusal error={revoke.error} />
      <div className="drawer-buttons">
        <AskFirst
          label={`Revoke the token ${token.name}`}
          verb="Revoke"
          look="danger"
          question={`Revoke ${token.name}?`}
          detail={
            <>
              <p>{revocationText(token, names)}</p>
              <p>
                {lastUsedAt === null ? (
                  'It was never used.'
                ) : (
                  <>
                    It was last used <Moment at={lastUsedAt} />.
                  </>
                )}
              </p>
            </>
          }
          busy={revoke.isPending}
          onConfirm={() =>
            revoke.mutate(token, { onSuccess: () => onDone('The token is revoked: it is refused from now on.') })
          }
        />
      </div>
    </section>
  );
}

function Reinstate({ organization, token, place, onDone }: ChangeProps & { readonly place: string }): ReactNode {
  const reinstate = useReinstateToken(organization);
  return (
    <section className="drawer-section">
      <h3>Reinstate</h3>
      <p className="muted">
        The SecretSyncs of {token.holder?.namespace} read {place} again, if an AccessGrant still allows it.
      </p>
      <Refusal error={reinstate.error} />
      <div className="drawer-buttons">
        <Button
          busy={reinstate.isPending}
          onClick={() => reinstate.mutate(token, { onSuccess: () => onDone('The token works again.') })}
        >
          Reinstate
        </Button>
      </div>
    </section>
  );
}
