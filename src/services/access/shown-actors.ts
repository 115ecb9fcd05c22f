import type { Database } from '../../store/database.ts';
import { listTokensOfResources } from '../../store/service-tokens.ts';
import type { EnvironmentAccess } from './access.ts';

/** The fields of records that say who did something; with the suffixes `Type`, `Name` and, if a cluster vouched, `Cluster`. */
const actorFields = ['createdBy', 'changedBy', 'updatedBy', 'deletedBy', 'destroyedBy'] as const;
/** Texts that may repeat the name of a custom resource. */
const texts = ['comment', 'description'] as const;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Records of an environment as the caller may see them. Names of custom resources contain their namespace, and so do those of
 * the tokens of ServiceTokens. Callers who may not see the namespaces of consumers get these names without it, and without
 * the cluster that vouched for the resource.
 */
export async function shownActors<T extends object>(
  pool: Database['pool'],
  access: Pick<EnvironmentAccess, 'allows'>,
  records: readonly T[],
): Promise<readonly T[]> {
  if (access.allows('consumer.locate')) return records;
  const tokenIds = new Set(records.flatMap((record) => namedTokensOf(record as Fields)));
  const ofResources = new Set(tokenIds.size === 0 ? [] : await listTokensOfResources(pool, [...tokenIds]));
  return records.map((record) => withoutNamespaces(record, ofResources));
}

/** The ids of tokens in a record whose names may contain a namespace. */
function namedTokensOf(record: Fields): string[] {
  return actorFields.flatMap((field) => {
    const isNamed = record[`${field}Type`] === 'service_token' && String(record[`${field}Name`]).includes('/');
    return isNamed ? [String(record[field])] : [];
  });
}

function withoutNamespaces<T extends object>(record: T, tokensOfResources: ReadonlySet<string>): T {
  const shown: Record<string, unknown> = { ...(record as Fields) };
  for (const field of actorFields) {
    const type = shown[`${field}Type`];
    const isResource = type === 'resource';
    if (!isResource && !(type === 'service_token' && tokensOfResources.has(String(shown[field])))) continue;
    const name = String(shown[`${field}Name`]);
    const short = withoutNamespace(name);
    shown[`${field}Name`] = short;
    if (!isResource) continue;
    shorten(shown, name, short);
    if (`${field}Cluster` in shown) shown[`${field}Cluster`] = null;
  }
  // The same fields with shorter texts, and without clusters.
  return shown as T;
}

/** `SecretSnapshot team-a/nightly` or `team-a/nightly`, without `team-a/`. */
function withoutNamespace(name: string): string {
  return name.replace(/^(\S+ )?[^\s/]+\//, '$1');
}

function shorten(record: Record<string, unknown>, name: string, short: string): void {
  for (const field of texts) {
    const text = record[field];
    if (typeof text === 'string') record[field] = text.replaceAll(name, short);
  }
}
