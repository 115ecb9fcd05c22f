import { readOnlyFault, readOnlyState } from './session.ts';

/** By the code of a failed connection: what is wrong with the address itself. */
const faults: ReadonlyMap<unknown, string> = new Map([
  ['28P01', 'PostgreSQL refuses the password, or does not know the user'],
  ['28000', 'PostgreSQL does not let this user connect from here'],
  ['3D000', 'PostgreSQL does not have this database'],
  ['42501', 'PostgreSQL does not let this user into this database'],
  [readOnlyState, readOnlyFault],
  ['ENOTFOUND', 'the host name of PostgreSQL does not resolve'],
]);

/** What to do about such a fault of the address as which a role of the program connects. */
export const addressAdvice =
  'correct KEYFRAME_DATABASE_URL (in the chart, the Secret of database.existingSecret; for the Job migrate, that of ' +
  'database.migration; for its own PostgreSQL, that of postgres.existingSecret), or PostgreSQL';

/** What is wrong with the address of a failed connection, with the code in parentheses; undefined for another failure. */
export function addressFault(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  const fault = faults.get(code);
  return fault === undefined ? undefined : `${fault} (${String(code)})`;
}
