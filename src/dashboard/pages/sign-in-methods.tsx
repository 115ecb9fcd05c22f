import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useQuery } from '@tanstack/react-query';
import { dashboardPaths } from '../../wire/dashboard-paths.ts';
import { useMe } from '../api/me.ts';
import { signInQuery } from '../api/sign-in.ts';
import { Notice } from '../parts/notice.tsx';
import { Page } from '../parts/page.tsx';
import { Accounts } from './sign-in-methods/accounts.tsx';
import { Passkeys } from './sign-in-methods/passkeys.tsx';

/** How the user signs in: passkeys, and the account at the issuer of OpenID Connect. */
export function SignInMethodsPage(): ReactNode {
  const me = useMe().data;
  const offer = useQuery(signInQuery).data;
  const issuer = offer?.methods.find((method) => method.type === 'oidc');
  return (
    <Page title="Sign-in methods" intro="With these you sign in to a browser, without a token.">
      {me?.session?.recentSignIn === false ? (
        <Notice kind="info">
          To change them, you need a sign-in within the last 5 minutes.{' '}
          <Link to={dashboardPaths.signIn} state={{ from: dashboardPaths.signInMethods, again: true }}>
            Sign in again
          </Link>
        </Notice>
      ) : undefined}
      <Passkeys origin={offer?.methods.find((method) => method.type === 'passkey')?.origin} off={offer?.passkeysOff} />
      <Accounts issuer={issuer?.name} />
    </Page>
  );
}
