import { signInView, type SignInView, updateSignInBody } from '../../wire/sign-in.ts';
import type { HttpServices } from '../http-services.ts';
import { instanceRoute, publicRoute, type PublicRoute, type Route } from '../route.ts';

/** docs/interface.md 4, "Sessions" */
export const publicSignInRoutes: readonly PublicRoute[] = [
  publicRoute({
    method: 'GET',
    path: '/sign-in',
    operation: 'getSignIn',
    summary: 'Get the ways in which users sign in',
    input: {},
    responses: { 200: signInView },
    async handle(services) {
      return { status: 200, body: await viewOf(services) };
    },
  }),
];

export const signInRoutes: readonly Route[] = [
  instanceRoute({
    method: 'PUT',
    path: '/sign-in',
    action: 'sign_in.update',
    operation: 'updateSignIn',
    summary: 'Open or close sign-in with more than a personal token',
    input: { body: updateSignInBody },
    responses: { 200: signInView },
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
