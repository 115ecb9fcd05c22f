import { afterAll, beforeAll } from '@jest/globals';
import { CliRunner } from './cli.ts';
import { type TestApi, startTestApi } from '../api/http.ts';
import { type World, createWorld } from '../api/services.ts';

/** A started API with one environment, and the `keyframe` command as its owner. */
export interface CommandWorld {
  readonly api: TestApi;
  readonly world: World;
  readonly cli: CliRunner;
  /** The options that name the environment. */
  readonly scope: string[];
}

/**
 * Starts a command world before the tests of the file that calls this, and ends it after the last one. `take` gets it
 * once, ahead of every hook that the file declares behind it. Returns what ends with it.
 */
export function withCommandWorld(take: (given: CommandWorld) => void | Promise<void>): AsyncDisposableStack {
  const resources = new AsyncDisposableStack();
  beforeAll(async () => take(await startCommandWorld(resources)));
  afterAll(() => resources.disposeAsync());
  return resources;
}

async function startCommandWorld(resources: AsyncDisposableStack): Promise<CommandWorld> {
  const api = await startTestApi();
  resources.defer(() => api.close());
  const world = await createWorld(api.services);
  const cli = await CliRunner.create({ url: `http://127.0.0.1:${api.port}`, token: world.owner.token });
  resources.defer(() => cli.remove());
  const { organization, project, environment } = world.slugs;
  return { api, world, cli, scope: ['-o', organization, '-p', project, '-e', environment] };
}
