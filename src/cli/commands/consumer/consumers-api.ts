import type { ConsumerListView, ConsumerView } from '../../../wire/consumers.ts';
import { type ApiClient, apiPath } from '../../../client/api-client.ts';
import type { Scope } from '../../settings/scope.ts';

/** Texts of the query; what is undefined selects nothing. */
export interface ConsumerFilter {
  readonly cluster?: string | undefined;
  readonly health?: ConsumerView['health'] | undefined;
  readonly reason?: string | undefined;
}

/** All consumers of an environment (docs/interface.md 4.15). Throws ClientError. */
export async function allConsumers(api: ApiClient, scope: Scope, filter: ConsumerFilter = {}): Promise<ConsumerView[]> {
  const { organization, project, environment } = scope;
  const path = apiPath`/environments/${organization}/${project}/${environment}/consumers`;
  const consumers: ConsumerView[] = [];
  let cursor: string | undefined;
  do {
    const { cluster, health, reason } = filter;
    const page = await api.get<ConsumerListView>(path, { query: { cluster, health, reason, cursor } });
    consumers.push(...page.consumers);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return consumers;
}

/** `namespace/name`, with the source if it has a name; the name alone if the caller may not see the namespace. */
export function consumerName({ namespace, name, source }: Pick<ConsumerView, 'namespace' | 'name' | 'source'>): string {
  const path = namespace === null ? name : `${namespace}/${name}`;
  return source === null ? path : `${path} (source ${source})`;
}
