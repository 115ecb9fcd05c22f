import { getSignIn, updateSignIn } from '../../wire/contract/sign-in.ts';
import type { SignInView } from '../../wire/sign-in.ts';
import type { HttpServices } from '../http-services.ts';
import { instanceRoute, publicRoute, type PublicRoute, type Route } from '../route.ts';

/** docs/interface.md 4, "Sessions" */
export const publicSignInRoutes: readonly PublicRoute[] = [
  publicRoute({
    ...getSignIn,
    async handle(services) {
      return { status: 200, body: await viewOf(services) };
    },
  }),
];

export const signInRoutes: readonly Route[] = [
  instanceRoute({
    ...updateSignIn,
    action: 'sign_in.update',
    async handle(services, access, { body }) {
      await services.signIn.setOpen(access, body.open);
      return { status: 200, body: await viewOf(services) };
    },
  }),
];

async function viewOf({ signIn }: HttpServices): Promise<SignInView> {
  const { open, methods } = await signIn.offer();
  const { deviceLogin, passkeys } = signIn;
  return { open, methods: [...methods], deviceLogin, passkeysOff: typeof passkeys === 'string' ? passkeys : null };
}
