import type { ReactNode } from 'react';
import type { PasskeyView } from '../../../wire/passkeys.ts';

/** Another person with whose token or link a way to sign in was set up; nothing for one that the user alone set up. */
export function CreatedBy({ creator }: { readonly creator: PasskeyView['createdBy'] }): ReactNode {
  if (creator === null) return undefined;
  return <span>Set up with a token or link of {creator.name}</span>;
}
