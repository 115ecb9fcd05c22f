import type { Self } from '../../services/me.ts';
import type { MeView } from '../../wire/me.ts';
import { type Route, selfRoute } from '../route.ts';

/** docs/interface.md section 5 */
export const meRoutes: readonly Route[] = [
  selfRoute({
    method: 'GET',
    path: '/me',
    action: 'me.read',
    takes: {},
    async handle({ me }, caller) {
      return { status: 200, body: meView(await me.get(caller)) };
    },
  }),
];

function meView(self: Self): MeView {
  const expiresAt = self.expiresAt?.toISOString() ?? null;
  return self.type === 'user' ? { ...self, expiresAt, organizations: [...self.organizations] } : { ...self, expiresAt };
}
