import type { ComponentType } from 'react';
import type { SignInMethod } from '../../api/sign-in.ts';
import { PersonalTokenWay } from './personal-token.tsx';
import type { WayProps } from './way.ts';

interface Way {
  readonly type: SignInMethod['type'];
  readonly Way: ComponentType<WayProps>;
}

/** The ways to sign in that this page has, in its order. */
const ways: readonly Way[] = [{ type: 'personal_token', Way: PersonalTokenWay }];

/** Those that the server offers. Every server takes a personal token, so that way is there before the server has answered. */
export function waysOf(offered: readonly SignInMethod[] = [{ type: 'personal_token' }]): readonly Way[] {
  return ways.filter(({ type }) => offered.some((method) => method.type === type));
}
