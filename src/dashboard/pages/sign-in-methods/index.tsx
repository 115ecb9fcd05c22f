import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { signInQuery } from '../../api/sign-in.ts';
import { NeedsRecentSignIn } from '../../parts/needs-recent-sign-in.tsx';
import { Page } from '../../parts/page.tsx';
import { Accounts } from './accounts.tsx';
import { Passkeys } from './passkeys.tsx';

/** How the user signs in: passkeys, and the account at the issuer of OpenID Connect. */
export function SignInMethodsPage(): ReactNode {
  const offer = useQuery(signInQuery).data;
  const issuer = offer?.methods.find((method) => method.type === 'oidc');
  return (
    <Page title="Sign-in methods" intro="With these you sign in to a browser, without a token.">
      <NeedsRecentSignIn>To change them</NeedsRecentSignIn>
      <Passkeys origin={offer?.methods.find((method) => method.type === 'passkey')?.origin} off={offer?.passkeysOff} />
      <Accounts issuer={issuer?.name} />
    </Page>
  );
}
