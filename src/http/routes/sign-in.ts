import { signInView } from '../../wire/sign-in.ts';
import { type PublicRoute, publicRoute } from '../route.ts';

/** docs/interface.md 4, "Sessions" */
export const signInRoutes: readonly PublicRoute[] = [
  publicRoute({
    method: 'GET',
    path: '/sign-in',
    operation: 'getSignIn',
    summary: 'Get the ways in which users sign in',
    input: {},
    responses: { 200: signInView },
    async handle({ signIn }) {
      return { status: 200, body: { methods: [...signIn.methods()], deviceLogin: signIn.deviceLogin } };
    },
  }),
];
