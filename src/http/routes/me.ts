import type { Self } from '../../services/people/me.ts';
import { getMe } from '../../wire/contract/me.ts';
import type { MeView } from '../../wire/me.ts';
import { type Route, selfRoute } from '../route.ts';

/** docs/interface.md section 5 */
export const meRoutes: readonly Route[] = [
  selfRoute({
    ...getMe,
    action: 'me.read',
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
