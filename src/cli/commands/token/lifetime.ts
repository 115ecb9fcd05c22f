import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import { usageError } from '../../core/cli-error.ts';
import { durationMs } from '../../core/duration-option.ts';
import type { Option } from '../../core/options.ts';

/** How long a new token is valid. */
export type Lifetime = { readonly days: number } | { readonly ms: number };

/** `--expires-in 90` for days, `--expires-in 1h30m` for less. */
export function lifetimeOption(byDefault: string): Option<Lifetime | undefined> {
  return {
    flags: '--expires-in <days>',
    field: 'expiresInDays',
    description: `Days until it expires, or a duration such as 12h or 30m (default: ${byDefault})`,
    parse: (text) => {
      const days = Number(/^([0-9]{1,6})d?$/.exec(text)?.[1] ?? Number.NaN);
      if (days >= 1) return { days };
      const ms = durationMs(text) ?? 0;
      if (ms > 0) return { ms };
      throw usageError('must be a number of days, 1 or more, or a duration such as 12h or 1d12h');
    },
  };
}

/** The fields of a request that creates a token. The clock of the server counts: that of this machine may be wrong. */
export async function expiryOf(
  api: ApiClient,
  lifetime: Lifetime | undefined,
): Promise<{ expiresInDays?: number; expiresAt?: string }> {
  if (lifetime === undefined) return {};
  if ('days' in lifetime) return { expiresInDays: lifetime.days };
  const { headers } = await call(api, 'GET /me');
  const now = Date.parse(headers.date ?? '');
  return { expiresAt: new Date((Number.isNaN(now) ? Date.now() : now) + lifetime.ms).toISOString() };
}
