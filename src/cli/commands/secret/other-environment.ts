import { usageError } from '../../core/cli-error.ts';
import type { Scope } from '../../settings/scope.ts';

/**
 * The environment that an option names by `env`, `project/env` or `org/project/env`. Slugs that are not given are those of
 * `near`. Throws a usage error that names the option.
 */
export function otherEnvironment(option: string, path: string, near: Pick<Scope, 'organization' | 'project'>): Scope {
  const slugs = path.split('/');
  if (slugs.length > 3 || slugs.includes('')) {
    throw usageError(`${option} must be an environment, such as production, shop/production or acme/shop/production`);
  }
  const [environment = '', project = near.project, organization = near.organization] = slugs.toReversed();
  return { organization, project, environment };
}
