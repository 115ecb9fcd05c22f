import type { ComponentType } from 'react';
import type { SignInMethod } from '../../api/sign-in.ts';
import { OidcWay } from './oidc.tsx';
import { PasskeyWay } from './passkey.tsx';
import { PersonalTokenWay } from './personal-token.tsx';
import type { WayProps } from './way.ts';

interface Way {
  readonly type: SignInMethod['type'];
  readonly Way: ComponentType<WayProps>;
}

/** The ways to sign in that this page has, in its order. */
const ways: readonly Way[] = [
  { type: 'oidc', Way: OidcWay },
  { type: 'passkey', Way: PasskeyWay },
  { type: 'personal_token', Way: PersonalTokenWay },
];

/** A way that the server offers, and what the server says of it. */
export type OfferedWay = Way & { readonly method: SignInMethod };

/** Those that the server offers. Every server takes a personal token, so that way is there before the server has answered. */
export function waysOf(offered: readonly SignInMethod[] = [{ type: 'personal_token' }]): readonly OfferedWay[] {
  return ways.flatMap((way) => {
    const method = offered.find(({ type }) => type === way.type);
    return method === undefined ? [] : [{ ...way, method }];
  });
}
