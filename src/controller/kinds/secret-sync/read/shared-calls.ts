import type { ReadDeps } from './read.ts';

/**
 * The same dependencies for one observation of all sources: equal calls of several sources are made once. A failed call is
 * made again.
 */
export function sharedCalls<Deps extends Pick<ReadDeps, 'services' | 'secretsClient'>>(deps: Deps): Deps {
  const { services, secretsClient } = deps;
  const { authentication, access } = services;
  const find = once(
    secretsClient.find.bind(secretsClient),
    ({ namespace, name }, notOlderThan) => `${namespace}/${name}/${notOlderThan ?? ''}`,
  );
  const authenticate = once(authentication.authenticate.bind(authentication), (token) => token ?? '');
  const environment: typeof access.environment = once(
    access.environment.bind(access),
    ({ principal }, action, { organization, project, environment: name }) =>
      JSON.stringify([principal, action, organization, project, name]),
  );
  return {
    ...deps,
    secretsClient: { find },
    services: { ...services, authentication: { authenticate }, access: { environment } },
  };
}

/** Calls `call` once for each key, unless it fails. */
function once<Args extends readonly unknown[], T>(
  call: (...args: Args) => Promise<T>,
  keyOf: (...args: Args) => string,
): (...args: Args) => Promise<T> {
  const results = new Map<string, T>();
  return async (...args) => {
    const key = keyOf(...args);
    const known = results.get(key);
    if (known !== undefined) return known;
    const result = await call(...args);
    results.set(key, result);
    return result;
  };
}
