import { HttpClient } from './http.ts';
import { createTestDatabase, type TestDatabase } from '../database/postgres.ts';
import { Programs } from './program.ts';
import { createWorld, newRootKey, startServices, type TestServices, type World } from './services.ts';
import { TurnMeter } from './turn-meter.ts';

/** An API in a separate process, the turns of whose event loop are measured. */
export class LargeSite {
  readonly world: World;
  readonly services: TestServices;
  readonly url: string;
  readonly meter: TurnMeter;
  readonly #close: () => Promise<void>;

  private constructor(parts: Pick<LargeSite, 'world' | 'services' | 'url' | 'meter'>, close: LargeSite['close']) {
    this.world = parts.world;
    this.services = parts.services;
    this.url = parts.url;
    this.meter = parts.meter;
    this.#close = close;
  }

  static async start(): Promise<LargeSite> {
    const database: TestDatabase = await createTestDatabase();
    const rootKeys = newRootKey();
    const services = await startServices(database.url, { rootKeys });
    const world = await createWorld(services);
    const meter = await TurnMeter.make();
    const programs = new Programs();
    const env = { DATABASE_URL: database.url, ROOT_KEY: rootKeys };
    const { port } = await programs.start({ args: ['api'], env, nodeArgs: meter.nodeArgs });
    const url = `http://127.0.0.1:${port}`;
    return new LargeSite({ world, services, url, meter }, async () => {
      await programs.endAll();
      await services.close();
      await database.drop();
    });
  }

  client(token?: { reveal(): string }): HttpClient {
    return new HttpClient(this.url, token?.reveal());
  }

  /** The world's environment below a resource, such as `/secrets/org/web/prod`. */
  path(resource: string): string {
    const { organization, project, environment } = this.world.slugs;
    return `/${resource}/${organization}/${project}/${environment}`;
  }

  close(): Promise<void> {
    return this.#close();
  }
}
