import { copyBetween } from './environment-copy.ts';
import type { Call } from './environment-steps.ts';
import { ModelledEnvironment } from './modelled-environment.ts';
import type { TestServices, TestToken, World } from './services.ts';
import { type Settlement, settleAll } from './settlement.ts';

/** Two environments of one organization, in which nothing was written, and a token of the whole organization. */
export interface RunGround {
  readonly worlds: readonly [World, World];
  readonly wideToken: TestToken;
}

/**
 * Runs rounds of calls, those of a round at once, on two real environments and on models of them. It expects each answer to
 * be what the models say at some one order of the calls, which the revisions in the answers show.
 */
export class EnvironmentRun {
  readonly environments: readonly [ModelledEnvironment, ModelledEnvironment];
  readonly #services: TestServices;

  private constructor(services: TestServices, environments: EnvironmentRun['environments']) {
    this.#services = services;
    this.environments = environments;
  }

  static async start(services: TestServices, { worlds, wideToken }: RunGround): Promise<EnvironmentRun> {
    const start = (world: World): Promise<ModelledEnvironment> => ModelledEnvironment.start(services, world, wideToken);
    return new EnvironmentRun(services, [await start(worlds[0]), await start(worlds[1])]);
  }

  /** Makes all of the calls at once, and settles them. An environment that was deleted before the round is undeleted in it. */
  async round(calls: readonly Call[]): Promise<void> {
    for (const environment of this.environments) await environment.beginRound();
    const undeletions = this.environments.flatMap((environment, index) =>
      environment.standing.isLive ? [] : [undeletionOf(index)],
    );
    const settlements = await Promise.all([...calls, ...undeletions].map((call) => this.#make(call)));
    for (const environment of this.environments) await environment.endRound();
    settleAll(settlements.flat());
  }

  /** Undeletes what is deleted. */
  async finish(): Promise<void> {
    while (this.environments.some(({ standing }) => !standing.isLive)) await this.round([]);
  }

  async #make({ step, client, environment }: Call): Promise<readonly Settlement[]> {
    const [one, other] = this.environments;
    const ends = environment === 0 ? { destination: one, source: other } : { destination: other, source: one };
    if (step.kind === 'copy') return copyBetween(this.#services, ends, step, client);
    return [await ends.destination.make(step, client)];
  }
}

function undeletionOf(environment: number): Call {
  return { step: { kind: 'undelete' }, client: environment, environment };
}
