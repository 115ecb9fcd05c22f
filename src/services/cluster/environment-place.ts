import type { EnvironmentPlace } from '../../domain/slugs.ts';
import type { EnvironmentPlaceAccess } from '../managed/access.ts';

/** What the controller learns of the environment that a resource was admitted to. */
export function environmentPlaceOf({
  environmentId,
  asked,
}: EnvironmentPlaceAccess<'snapshot.restore' | 'schedule.run'>): EnvironmentPlace {
  const { organization, project, environment } = asked;
  return { organization, project, environment, environmentId };
}
