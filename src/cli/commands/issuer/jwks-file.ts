import type { TrustedIssuerView } from '../../../wire/trusted-issuers.ts';
import { usageError } from '../../core/cli-error.ts';

type Key = NonNullable<TrustedIssuerView['keys']>[number];

const publicMembers = ['kty', 'alg', 'kid', 'use', 'key_ops', 'n', 'e', 'crv', 'x', 'y'] as const;

/** The keys of a JWK Set, with the members of public keys only. A private key stays on this machine. */
export function publicKeys(text: string, shown: string): Key[] {
  const set = jsonOf(text) as { readonly keys?: unknown } | null;
  const keys: unknown = set?.keys;
  if (!Array.isArray(keys)) throw usageError(`${shown} is not a JWK Set: it must be JSON such as {"keys": […]}`);
  return keys.map((key: unknown, position) => {
    const members = (key ?? {}) as Key;
    if (members['kty'] === 'oct' || members['d'] !== undefined || members['k'] !== undefined) {
      throw usageError(
        `key ${position} of ${shown} is private or symmetric, and was not sent`,
        'Give the public keys, such as those that the issuer publishes',
      );
    }
    return Object.fromEntries(
      publicMembers.flatMap((name) => (members[name] === undefined ? [] : [[name, members[name]]])),
    );
  });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
