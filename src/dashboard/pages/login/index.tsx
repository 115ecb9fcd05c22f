import { type ReactNode, useEffect } from 'react';
import { useSearchParams } from 'react-router';
import { useApproveLogin } from '../../api/command-logins.ts';
import { useMe } from '../../api/me.ts';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Page } from '../../parts/page.tsx';
import { Refusal } from '../../parts/refusal.tsx';
import { type LoginRequest, callbackOf, loginRequestOf } from '../../text/login-request.ts';

/** Approves the command on this machine, which has opened the page, and passes a code on to it. */
export function LoginPage(): ReactNode {
  const [parameters] = useSearchParams();
  const request = loginRequestOf(parameters);
  if (request === undefined) {
    return (
      <Page title="Sign in the command">
        <Notice>This address is not complete. Run keyframe login again.</Notice>
      </Page>
    );
  }
  return <Approval request={request} />;
}

function Approval({ request }: { readonly request: LoginRequest }): ReactNode {
  const { data: user } = useMe();
  const { mutate, data: approved, error, isPending } = useApproveLogin();
  useEffect(() => {
    // To the command, on a port of this machine. The code is of use to it alone, which has the secret of the challenge.
    if (approved !== undefined) window.location.replace(callbackOf(request, approved.code));
  }, [approved, request]);
  return (
    <Page
      title="Sign in the command"
      intro="The keyframe command on this machine asks for a personal token. It ends after 30 days."
    >
      <Refusal error={error} />
      <div className="panel">
        <p>
          The command will act as <strong>{user?.name ?? '…'}</strong>. Approve it only if you have just run{' '}
          <code>keyframe login</code> on this machine.
        </p>
        <Button look="primary" busy={isPending || approved !== undefined} onClick={() => mutate(request.challenge)}>
          Approve
        </Button>
      </div>
    </Page>
  );
}
