import type { SecretKeyView } from '../../wire/secrets.ts';
import type { Draft } from './draft.ts';

/** A row of the table of keys. */
export interface KeyRow {
  readonly key: string;
  /** Undefined for a key that is only in the draft. */
  readonly secret: SecretKeyView | undefined;
  /** What the draft makes of it. */
  readonly mark: 'add' | 'set' | 'delete' | undefined;
}

/** The keys of the environment and those that the draft adds, by key, if they contain the text in any case. */
export function rowsOf(secrets: readonly SecretKeyView[], draft: Draft, filter: string): readonly KeyRow[] {
  const text = filter.trim().toLowerCase();
  const matches = (key: string): boolean => text === '' || key.toLowerCase().includes(text);
  const rows: KeyRow[] = secrets
    .filter(({ key }) => matches(key))
    .map((secret) => ({ key: secret.key, secret, mark: draft.get(secret.key)?.kind }));
  const present = new Set(secrets.map(({ key }) => key));
  const added = [...draft].filter(([key, { kind }]) => kind === 'set' && !present.has(key) && matches(key));
  if (added.length === 0) return rows;
  rows.push(...added.map(([key]) => ({ key, secret: undefined, mark: 'add' as const })));
  return rows.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}
