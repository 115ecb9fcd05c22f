import { call } from '../../../client/call.ts';
import type { SignInView } from '../../../wire/sign-in.ts';
import type { CommandContext } from '../../core/command.ts';

/** Opens or closes sign-in, and prints how users sign in now. */
export async function setSignIn({ api, printer }: CommandContext, open: boolean): Promise<void> {
  const { body: value } = await call(api(), 'PUT /sign-in', { body: { open } });
  const names = value.methods.map(nameOf);
  const state = value.open ? 'open' : 'closed, but for personal tokens';
  await printer.object({
    value,
    fields: [
      ['Sign-in', state],
      ['With', names.join(', ')],
    ],
    name: state,
  });
}

function nameOf(method: SignInView['methods'][number]): string {
  if (method.type === 'oidc') return method.name;
  return method.type === 'passkey' ? 'passkey' : 'personal token';
}
