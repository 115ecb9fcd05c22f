import type { Caller } from '../../../src/domain/principal.ts';
import type { TestServices, World } from './services.ts';

export type Level = 'organization' | 'project' | 'environment';
export const levels: readonly Level[] = ['organization', 'project', 'environment'];

/** Deletes, undeletes and purges a world's organization, project or environment; as its owner by default. */
export class TenantCalls {
  readonly #services: TestServices;
  readonly #world: World;

  constructor(services: TestServices, world: World) {
    this.#services = services;
    this.#world = world;
  }

  async remove(level: Level, caller: Caller = this.#world.owner.caller): Promise<void> {
    const { environments, organizations, projects } = this.#services;
    if (level === 'organization') {
      return organizations.delete(await this.#world.onOrganization(caller, 'organization.delete'));
    }
    if (level === 'project') return projects.delete(await this.#world.onProject(caller, 'project.delete'));
    return environments.delete(await this.#world.onEnvironment(caller, 'environment.delete'));
  }

  /** Returns the undeleted item. */
  async undelete(
    level: Level,
    caller: Caller = this.#world.owner.caller,
    slugs = this.#world.slugs,
  ): Promise<{ readonly id: string }> {
    const { access, environments, organizations, projects } = this.#services;
    if (level === 'organization') {
      return organizations.undelete(await access.instance(caller, 'organization.undelete'), slugs);
    }
    if (level === 'project') return projects.undelete(await access.project(caller, 'project.undelete', slugs));
    return environments.undelete(await access.environment(caller, 'environment.undelete', slugs));
  }

  async purge(level: Level, caller: Caller = this.#world.owner.caller, slugs = this.#world.slugs): Promise<void> {
    const { access, environments, organizations, projects } = this.#services;
    if (level === 'organization') {
      return organizations.purge(await access.instance(caller, 'organization.purge'), slugs);
    }
    if (level === 'project') return projects.purge(await access.instance(caller, 'project.purge'), slugs);
    return environments.purge(await access.instance(caller, 'environment.purge'), slugs);
  }
}
