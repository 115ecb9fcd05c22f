import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { useNavigate } from 'react-router';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import type { LinkView } from '../../../wire/sign-in-links.ts';
import type { ApiError } from '../../api/client.ts';
import { forgetLinkSecret, useLinkSecret } from '../../api/link-secret.ts';
import { meQuery } from '../../api/me.ts';
import { useFindLink, useRedeemLink } from '../../api/sign-in-links.ts';
import { Button } from '../../parts/button.tsx';
import { Diamond } from '../../parts/icons.tsx';
import { Deadline } from '../../parts/moment.tsx';
import { Notice } from '../../parts/notice.tsx';
import { useTitle } from '../../parts/page.tsx';

/** Where a sign-in link leads: it shows what the link is for, and signs the browser in. */
export function LinkPage(): ReactNode {
  const secret = useLinkSecret();
  return secret === undefined ? (
    <Layout heading="Sign-in link">
      <Notice>This address is not complete. Open the whole link that you got.</Notice>
    </Layout>
  ) : (
    <UsedLink key={secret} secret={secret} />
  );
}

function UsedLink({ secret }: { readonly secret: string }): ReactNode {
  const { mutate: find, data: link, error, isPending } = useFindLink();
  const redeem = useRedeemLink();
  const navigate = useNavigate();
  const { isSuccess } = redeem;
  useEffect(() => find(secret), [find, secret]);
  useEffect(() => {
    if (!isSuccess) return;
    forgetLinkSecret();
    void navigate(dashboardPaths.signInMethods, { replace: true });
  }, [isSuccess, navigate]);
  if (link === undefined) {
    return (
      <Layout heading="Sign-in link" busy={isPending}>
        {error === null ? undefined : <Failed error={error} onRetry={() => find(secret)} />}
      </Layout>
    );
  }
  return (
    <Layout heading={link.invitation === null ? 'Sign in to Keyframe' : 'You are invited'}>
      <Consent
        link={link}
        error={redeem.error}
        busy={redeem.isPending || isSuccess}
        onAccept={() => redeem.mutate(secret)}
      />
    </Layout>
  );
}

interface ConsentProps {
  readonly link: LinkView;
  readonly error: ApiError | null;
  readonly busy: boolean;
  readonly onAccept: () => void;
}

function Consent({ link, error, busy, onAccept }: ConsentProps): ReactNode {
  const { email, createdBy, expiresAt, invitation } = link;
  const { data: user } = useQuery({ ...meQuery, refetchInterval: false, retryOnMount: false });
  return (
    <div className="sign-in-way">
      {invitation === null ? (
        <p>
          <strong>{createdBy.email}</strong> created this link for you.
        </p>
      ) : (
        <p>
          <strong>{createdBy.email}</strong> invites you to be <span className="badge">{invitation.role}</span> on{' '}
          <span className="mono">{placeOf(invitation)}</span>.
        </p>
      )}
      <p>
        {invitation === null ? 'You sign in as ' : 'You become the user '}
        <strong>{email}</strong>. Set up a way to sign in directly afterwards: this link works only once.
      </p>
      {user === undefined || user.name === email ? undefined : (
        <Notice kind="info">
          This browser is signed in as {user.name}. If you continue, it is signed in as {email} instead.
        </Notice>
      )}
      {error === null ? undefined : <Notice>{error.message}</Notice>}
      {error?.status === 401 ? undefined : (
        <Button look="primary" busy={busy} onClick={onAccept}>
          {invitation === null ? 'Sign in' : 'Accept'}
        </Button>
      )}
      <p className="muted small">
        Continue only if you know who sent you this link. It ends <Deadline at={expiresAt} />.
      </p>
    </div>
  );
}

/** With another try, unless the server has judged the link. */
function Failed({ error, onRetry }: { readonly error: ApiError; readonly onRetry: () => void }): ReactNode {
  return (
    <div className="sign-in-way">
      <Notice>{error.message}</Notice>
      {error.status === 401 ? undefined : <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}

interface LayoutProps {
  readonly heading: string;
  readonly busy?: boolean;
  readonly children: ReactNode;
}

function Layout({ heading, busy = false, children }: LayoutProps): ReactNode {
  // The title of the document names neither organization nor user.
  useTitle('Sign-in link');
  return (
    <main className="sign-in" aria-busy={busy}>
      <div className="sign-in-head">
        <Diamond />
        <h1>{heading}</h1>
        <p className="muted">{window.location.host}</p>
      </div>
      {children}
    </main>
  );
}

/** Such as `acme/shop`, for a role in a project. */
function placeOf({ organization, project, environment }: NonNullable<LinkView['invitation']>): string {
  return [organization, project, environment].filter((part) => part !== null).join('/');
}
