import type { Self } from '../../services/people/me.ts';
import { type MeView, meView } from '../../wire/me.ts';
import { type Route, selfRoute } from '../route.ts';

/** docs/interface.md section 5 */
export const meRoutes: readonly Route[] = [
  selfRoute({
    method: 'GET',
    path: '/me',
    action: 'me.read',
    operation: 'getMe',
    summary: 'Get the user or service token behind the presented token',
    input: {},
    responses: { 200: meView },
    async handle({ me }, caller) {
      return { status: 200, body: selfView(await me.get(caller)) };
    },
  }),
];

function selfView(self: Self): MeView {
  const expiresAt = self.expiresAt?.toISOString() ?? null;
  if (self.type === 'service_token') return { ...self, expiresAt };
  return { ...self, expiresAt, organizations: [...self.organizations], rolesByPlace: [...self.rolesByPlace] };
}
