import type { ConsumerView } from '../../../wire/consumers.ts';
import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import { allPages } from '../../../client/pages.ts';
import { type Scope, scopeParams } from '../../settings/scope.ts';

/** Texts of the query; what is undefined selects nothing. */
export interface ConsumerFilter {
  readonly cluster?: string | undefined;
  readonly health?: ConsumerView['health'] | undefined;
  readonly reason?: string | undefined;
}

/** All consumers of an environment (docs/interface.md 4.15). Throws ClientError. */
export async function allConsumers(api: ApiClient, scope: Scope, filter: ConsumerFilter = {}): Promise<ConsumerView[]> {
  const params = scopeParams(scope);
  const { cluster, health, reason } = filter;
  const pages = await allPages(async (cursor) => {
    const query = { cluster, health, reason, cursor };
    return (await call(api, 'GET /environments/{org}/{project}/{env}/consumers', { params, query })).body;
  });
  return pages.flatMap(({ consumers }) => consumers);
}

/** `namespace/name`, with the source if it has a name; the name alone if the caller may not see the namespace. */
export function consumerName({ namespace, name, source }: Pick<ConsumerView, 'namespace' | 'name' | 'source'>): string {
  const path = namespace === null ? name : `${namespace}/${name}`;
  return source === null ? path : `${path} (source ${source})`;
}
