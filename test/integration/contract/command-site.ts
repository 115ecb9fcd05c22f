import { expect } from '@jest/globals';
import type { AuditEntryView } from '../../../src/wire/audit.ts';
import type { CreatedServiceTokenView, ServiceTokenView } from '../../../src/wire/service-tokens.ts';
import type { SnapshotView } from '../../../src/wire/snapshots.ts';
import type { VersionListView } from '../../../src/wire/versions.ts';
import { CliRunner, type CommandOptions } from '../../support/cli/cli.ts';
import type { CommandEnd } from '../../support/cli/running-command.ts';
import { ContractSite, type Named, type Place, instant, uuid } from './contract-site.ts';

export const anyId: unknown = expect.stringMatching(uuid);
export const anyTime: unknown = expect.stringMatching(instant);

/** Runs with this token. */
export function as(token: string): CommandOptions {
  return { env: { KEYFRAME_TOKEN: token } };
}

/** The flags of an environment in their short and in their long forms. */
export function bothForms({ scope: [, org = '', , project = '', , env = ''] }: CommandPlace): [string[], string[]] {
  return [
    ['-o', org, '-p', project, '-e', env],
    ['--org', org, '--project', project, '--env', env],
  ];
}

/** The server of a `ContractSite`, and the built `keyframe` command signed in as the owner of its organization `acme`. */
export class CommandSite {
  readonly server: ContractSite;
  /** In a folder without a `.keyframe.json`. */
  readonly cli: CliRunner;

  private constructor(server: ContractSite, cli: CliRunner) {
    this.server = server;
    this.cli = cli;
  }

  static async start(): Promise<CommandSite> {
    const server = await ContractSite.start();
    const { token } = server.owner;
    return new CommandSite(server, await CliRunner.create({ url: server.url, token: { reveal: () => token } }));
  }

  /** A new environment with these secrets, of the project `shop` by default. */
  async newPlace(values: Readonly<Record<string, string>> = {}, project?: Named): Promise<CommandPlace> {
    const place = await this.server.newEnvironment(project);
    if (Object.keys(values).length > 0) await place.set(values);
    return new CommandPlace(this.cli, place);
  }

  /** Makes a service token by the command; of organization scope and read_write by default. */
  async newToken(...args: readonly string[]): Promise<CreatedServiceTokenView> {
    const given = args.length === 0 ? ['-s', 'organization', '-p', 'read_write'] : args;
    return await this.cli.json(['token', 'create-service', '-o', 'acme', '-n', 'ci', ...given]);
  }

  /** The service tokens that the server has, newest first. */
  async tokens(): Promise<ServiceTokenView[]> {
    const list = await this.server.owner.client.expectStatus<{ serviceTokens: ServiceTokenView[] }>(
      200,
      'GET',
      '/service-tokens/acme',
    );
    return list.serviceTokens;
  }

  /** The newest entry of this action in the audit. */
  async lastAudited(action: string): Promise<AuditEntryView | undefined> {
    const path = `/audit/acme?limit=1&action=${action}`;
    const { client } = this.server.owner;
    return (await client.expectStatus<{ entries: AuditEntryView[] }>(200, 'GET', path)).entries[0];
  }

  async close(): Promise<void> {
    this.cli.remove();
    await this.server.close();
  }
}

/** An environment, and the command in it: with the three flags that name it. */
export class CommandPlace {
  /** The environment past the command. */
  readonly server: Place;
  readonly scope: readonly string[];
  readonly #cli: CliRunner;

  constructor(cli: CliRunner, server: Place) {
    const { organization, project, environment } = server.target;
    this.server = server;
    this.scope = ['-o', organization, '-p', project, '-e', environment];
    this.#cli = cli;
  }

  async run(args: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> {
    return await this.#cli.run([...args, ...this.scope], options);
  }

  /** As `run`, expects that it succeeds, and answers what it prints. */
  async output(args: readonly string[], options: CommandOptions = {}): Promise<string> {
    return await this.#cli.output([...args, ...this.scope], options);
  }

  /** As `output` with --output json, parsed. */
  async json<Answer = unknown>(args: readonly string[], options: CommandOptions = {}): Promise<Answer> {
    return await this.#cli.json<Answer>([...args, ...this.scope], options);
  }

  /** Makes a snapshot by the command; answers its id. */
  async snapshot(): Promise<string> {
    return (await this.json<SnapshotView>(['snapshot', 'create'])).id;
  }

  /** Restores by the command all that the snapshot has, with options not to ask and to make no backup. */
  async restore<Answer = unknown>(id: string, options: CommandOptions = {}): Promise<Answer> {
    return await this.#cli.json<Answer>(
      ['snapshot', 'restore', id, '--yes', '--no-backup', '--rewrite-unchanged'],
      options,
    );
  }

  /** Number and kind of each version of a key as the command lists them, newest first. */
  async versions(key: string): Promise<[version: number, changeType: string][]> {
    const { versions } = await this.json<VersionListView>(['versions', key]);
    return versions.map(({ version, changeType }) => [version, changeType]);
  }

  /** The secrets that the server has, as `KEY: [value, version]`. */
  async secrets(): Promise<Record<string, readonly [value: string, version: number]>> {
    const { secrets } = await this.server.list();
    return Object.fromEntries(secrets.map(({ key, value, version }) => [key, [value, version]]));
  }
}
