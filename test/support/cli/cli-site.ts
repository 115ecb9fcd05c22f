import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { buildCli } from '../../../tools/build/cli.ts';
import { writeFolderFile } from '../../../src/cli/settings/folder-file.ts';
import type { SecretListView } from '../../../src/wire/secrets.ts';
import { CliRunner, type CliRunnerOptions } from './cli.ts';
import { type HttpClient, type TestApi, startTestApi } from '../api/http.ts';
import { type World, createWorld } from '../api/services.ts';

/** A started API, and folders with one environment each in which the built `keyframe` command runs. */
export class CliSite {
  readonly api: TestApi;
  readonly world: World;
  readonly #program: string;
  readonly #folders: CliFolder[] = [];

  private constructor(parts: { api: TestApi; world: World; program: string }) {
    this.api = parts.api;
    this.world = parts.world;
    this.#program = parts.program;
  }

  static async start(): Promise<CliSite> {
    const program = await buildCli();
    const api = await startTestApi();
    return new CliSite({ api, world: await createWorld(api.services), program });
  }

  /** A new environment, with a folder that is set up for it and signed in as its owner. `node` runs the command in it. */
  async newFolder({ node }: Pick<CliRunnerOptions, 'node'> = {}): Promise<CliFolder> {
    const environment = `env-${this.#folders.length + 1}`;
    const { organization, project } = this.world.slugs;
    const { token } = this.world.owner;
    const owner = this.api.client(token);
    await owner.expectStatus(201, 'POST', `/environments/${organization}/${project}`, { slug: environment });
    const scope = { organization, project, environment };
    const url = `http://127.0.0.1:${this.api.port}`;
    const folder = new CliFolder({ program: this.#program, node, url, token, scope, owner });
    this.#folders.push(folder);
    return folder;
  }

  async close(): Promise<void> {
    await this.api.close();
    for (const folder of this.#folders) folder.remove();
  }
}

/**
 * Starts a site before the tests of the file that calls this, and ends it after the last one. `take` gets it once, ahead
 * of every hook that the file declares behind it. Returns what ends before it.
 */
export function withCliSite(take: (site: CliSite) => void | Promise<void>): AsyncDisposableStack {
  const resources = new AsyncDisposableStack();
  beforeAll(async () => {
    const site = await CliSite.start();
    resources.defer(() => site.close());
    await take(site);
  });
  afterAll(() => resources.disposeAsync());
  return resources;
}

interface FolderParts {
  readonly program: string;
  readonly node: string | undefined;
  readonly url: string;
  readonly token: World['owner']['token'];
  readonly scope: { readonly organization: string; readonly project: string; readonly environment: string };
  readonly owner: HttpClient;
}

/** A folder with an environment, and the command in it. */
export class CliFolder extends CliRunner {
  readonly scope: FolderParts['scope'];
  readonly #owner: HttpClient;

  constructor({ program, node, url, token, scope, owner }: FolderParts) {
    super(program, { node, url, token });
    this.scope = scope;
    this.#owner = owner;
    const { path, text } = writeFolderFile(this.folder, scope);
    this.trust(path, text);
  }

  /** The environment as the command names it. */
  get place(): string {
    const { organization, project, environment } = this.scope;
    return `${organization}/${project}/${environment}`;
  }

  pathOf(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, content: string | Buffer): void {
    writeFileSync(this.pathOf(name), content);
  }

  read(name: string): string {
    return readFileSync(this.pathOf(name), 'utf8');
  }

  /** The environment's secrets, read past the command. */
  async secrets(): Promise<Record<string, string>> {
    return Object.fromEntries((await this.list()).secrets.map(({ key, value }) => [key, value]));
  }

  async list(): Promise<SecretListView> {
    return await this.#owner.expectStatus<SecretListView>(200, 'GET', `/secrets/${this.place}`);
  }

  /** Changes secrets past the command. */
  async patch(change: { set?: Record<string, string>; delete?: readonly string[] }): Promise<void> {
    await this.#owner.expectStatus(200, 'PATCH', `/secrets/${this.place}`, change);
  }
}
