import type { RunGround } from './environment-run.ts';
import {
  createEnvironment,
  createProject,
  createWorld,
  type ProjectPlace,
  type TestServices,
  type TestToken,
  type World,
} from './services.ts';

/** An organization that several runs share, each with environments of its own. */
interface Shared {
  readonly home: World;
  /** The same people in another project. */
  readonly elsewhere: ProjectPlace;
  readonly wideToken: TestToken;
  runs: number;
}

// To make an organization with its people and projects takes as long as a run. Its audit, which every proof reads, grows.
const runsPerOrganization = 20;

/** Gives each run two new environments, in two projects of an organization that it shares with some runs before it. */
export class RunOrganizations {
  readonly #services: TestServices;
  #shared: Shared | undefined;

  constructor(services: TestServices) {
    this.#services = services;
  }

  async next(): Promise<RunGround> {
    if (this.#shared === undefined || this.#shared.runs >= runsPerOrganization) this.#shared = await this.#create();
    const { home, elsewhere, wideToken } = this.#shared;
    this.#shared.runs += 1;
    const slug = `run-${this.#shared.runs}`;
    const worlds = [
      await createEnvironment(this.#services, home, slug),
      await createEnvironment(this.#services, elsewhere, slug),
    ] as const;
    return { worlds, wideToken };
  }

  async #create(): Promise<Shared> {
    const home = await createWorld(this.#services);
    const elsewhere = { ...home, project: await createProject(this.#services, home, 'elsewhere') };
    return { home, elsewhere, wideToken: await home.serviceToken({ scope: 'organization' }), runs: 0 };
  }
}
