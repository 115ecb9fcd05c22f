import { randomBytes, randomUUID } from 'node:crypto';
import { Keyring } from '../../../src/crypto/keyring.ts';
import { RootKeys } from '../../../src/crypto/root-keys.ts';
import { generateToken } from '../../../src/crypto/token.ts';
import type { Plaintext } from '../../../src/domain/plaintext.ts';
import type { EnvironmentAction, OrganizationAction, ProjectAction } from '../../../src/domain/policy.ts';
import type { Caller, BearerPrincipal, Role } from '../../../src/domain/principal.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import {
  Access,
  type EnvironmentAccess,
  type OrganizationAccess,
  type ProjectAccess,
} from '../../../src/services/access/access.ts';
import { KeylessAccess } from '../../../src/services/access/keyless.ts';
import { AuditEntries } from '../../../src/services/audit/audit-entries.ts';
import { AuditLog } from '../../../src/services/audit/audit-log.ts';
import { Authentication } from '../../../src/services/access/authentication.ts';
import { ChangeFeed } from '../../../src/services/changes/change-feed.ts';
import { ChangeStreams, type ChangeStreamsDeps } from '../../../src/services/changes/change-streams.ts';
import { Changes } from '../../../src/services/changes/changes.ts';
import { CredentialUsage } from '../../../src/services/access/credential-usage.ts';
import { Destructions } from '../../../src/services/secrets/destructions.ts';
import { EnvironmentQueue } from '../../../src/services/kernel/environment-queue.ts';
import { GrowthBudget, type GrowthLimits } from '../../../src/services/kernel/growth-budget.ts';
import { type EnvironmentRecord, Environments } from '../../../src/services/tenancy/environments.ts';
import { ClusterRegistry } from '../../../src/services/managed/cluster-registry.ts';
import { Me } from '../../../src/services/people/me.ts';
import { Members } from '../../../src/services/people/members.ts';
import { type OrganizationRecord, Organizations } from '../../../src/services/tenancy/organizations.ts';
import { PersonalTokens } from '../../../src/services/tokens/personal-tokens.ts';
import { type ProjectRecord, Projects } from '../../../src/services/tenancy/projects.ts';
import { ResourceAccess } from '../../../src/services/managed/access.ts';
import { ResourceEnvironments } from '../../../src/services/managed/environments.ts';
import { ResourceRestores } from '../../../src/services/managed/restores.ts';
import { ResourceSchedules } from '../../../src/services/managed/schedules.ts';
import { ResourceSnapshots } from '../../../src/services/managed/snapshots.ts';
import { ResourceTokens } from '../../../src/services/managed/tokens.ts';
import { Restores } from '../../../src/services/snapshots/restore/restores.ts';
import { SecretWriter } from '../../../src/services/secrets/secret-writer.ts';
import { SecretReader } from '../../../src/services/secrets/secret-reader.ts';
import { Secrets } from '../../../src/services/secrets/secrets.ts';
import { type CreateServiceTokenInput, ServiceTokens } from '../../../src/services/tokens/service-tokens.ts';
import { Snapshots } from '../../../src/services/snapshots/snapshots.ts';
import { StateCache } from '../../../src/services/secrets/state-cache.ts';
import { Users } from '../../../src/services/people/users.ts';
import { Versions } from '../../../src/services/secrets/versions.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { PostgresKeyStore } from '../../../src/store/keys.ts';
import { Listener } from '../../../src/store/listener.ts';

/** The real services on a real database, as src/compose.ts puts them together, with a root key of their own. */
export interface TestServices {
  readonly url: string;
  readonly database: Database;
  readonly keyring: Keyring;
  readonly audit: AuditLog;
  readonly authentication: Authentication;
  readonly access: Access;
  readonly me: Me;
  readonly users: Users;
  readonly personalTokens: PersonalTokens;
  readonly organizations: Organizations;
  readonly members: Members;
  readonly projects: Projects;
  readonly environments: Environments;
  readonly secrets: Secrets;
  readonly secretReader: SecretReader;
  readonly keyless: KeylessAccess;
  readonly clusters: ClusterRegistry;
  readonly usage: CredentialUsage;
  readonly versions: Versions;
  readonly destructions: Destructions;
  readonly snapshots: Snapshots;
  readonly restores: Restores;
  readonly serviceTokens: ServiceTokens;
  readonly changes: Changes;
  readonly changeStreams: ChangeStreams;
  readonly auditEntries: AuditEntries;
  readonly resourceAccess: ResourceAccess;
  readonly resourceTokens: ResourceTokens;
  readonly resourceSnapshots: ResourceSnapshots;
  readonly resourceRestores: ResourceRestores;
  readonly resourceSchedules: ResourceSchedules;
  readonly resourceEnvironments: ResourceEnvironments;
  /** What the streams of changes hear by; a test that has some starts it. */
  readonly feed: ChangeFeed;
  /** Waits for what is written in the background and closes the database. */
  close(): Promise<void>;
}

export interface StartOptions {
  /** `id:base64` lines; a fresh root key unless told. Give the same to two starts on one database. */
  readonly rootKeys?: string;
  readonly poolSize?: number;
  readonly streams?: Pick<ChangeStreamsDeps, 'atOnce' | 'checkMs'>;
  /** What may be written; the server's defaults unless given. */
  readonly growthLimits?: GrowthLimits;
}

/** A person with a personal token that is live. */
export interface TestUser {
  readonly id: string;
  readonly email: string;
  readonly token: Plaintext;
  readonly caller: Caller;
}

/** A service token as its creation answered it. */
export interface TestToken {
  readonly id: string;
  readonly token: Plaintext;
  readonly caller: Caller;
}

/** An organization with a project, an environment, and a person of each role. */
export interface World {
  readonly organization: OrganizationRecord;
  readonly project: ProjectRecord;
  readonly environment: EnvironmentRecord;
  readonly slugs: { readonly organization: string; readonly project: string; readonly environment: string };
  /** Made the organization, and so its owner. */
  readonly owner: TestUser;
  readonly admin: TestUser;
  readonly developer: TestUser;
  readonly viewer: TestUser;
  /** Has no role in the organization. */
  readonly stranger: TestUser;
  /** Access for one action on the environment, on the project and on the organization. */
  onEnvironment<A extends EnvironmentAction>(caller: Caller, action: A): Promise<EnvironmentAccess<A>>;
  onProject<A extends ProjectAction>(caller: Caller, action: A): Promise<ProjectAccess<A>>;
  onOrganization<A extends OrganizationAction>(caller: Caller, action: A): Promise<OrganizationAccess<A>>;
  /** Has the owner make a service token: `read_write` on the environment unless told. */
  serviceToken(input?: Partial<CreateServiceTokenInput>): Promise<TestToken>;
}

/** One root key, as KEYFRAME_ROOT_KEY holds it. */
export function newRootKey(): string {
  return `test:${randomBytes(32).toString('base64')}`;
}

/** Starts the services on a migrated database. */
export async function startServices(url: string, options: StartOptions = {}): Promise<TestServices> {
  const { rootKeys = newRootKey(), poolSize = 10 } = options;
  const database = openDatabase({ url, poolSize });
  const keyring = new Keyring({ rootKeys: RootKeys.parse(rootKeys), store: new PostgresKeyStore({ database }) });
  await keyring.open();
  const audit = new AuditLog({ database });
  const controllerAudit = new AuditLog({ database });
  const usage = new CredentialUsage({ database, clock: systemClock, logger: createLogger('silent') });
  const logger = createLogger('silent');
  const feed = new ChangeFeed({ database, listener: new Listener({ url, logger }), logger });
  const queue = new EnvironmentQueue();
  const budget = new GrowthBudget(options.growthLimits);
  const writer = new SecretWriter({ database, keyring, queue, budget });
  const states = new StateCache();
  return {
    url,
    database,
    keyring,
    audit,
    authentication: new Authentication({ database, usage }),
    access: new Access({ database, audit }),
    me: new Me({ database, audit }),
    users: new Users({ database, audit }),
    personalTokens: new PersonalTokens({ database, audit }),
    organizations: new Organizations({ database, audit }),
    members: new Members({ database, audit }),
    projects: new Projects({ database, audit }),
    environments: new Environments({ database, audit }),
    secrets: new Secrets({ database, keyring, writer, states, audit }),
    secretReader: new SecretReader({ database, keyring, states, audit: controllerAudit }),
    keyless: new KeylessAccess({ database, audit: controllerAudit, usage }),
    clusters: new ClusterRegistry({ database }),
    usage,
    versions: new Versions({ database, keyring, writer, audit }),
    destructions: new Destructions({ database, queue, audit }),
    snapshots: new Snapshots({ database, queue, budget, audit }),
    restores: new Restores({ database, queue, budget, audit }),
    serviceTokens: new ServiceTokens({ database, audit }),
    changes: new Changes({ database, audit }),
    changeStreams: new ChangeStreams({ database, changes: feed, audit, clock: systemClock, ...options.streams }),
    auditEntries: new AuditEntries({ database, audit }),
    resourceAccess: new ResourceAccess({ database, audit: controllerAudit }),
    resourceTokens: new ResourceTokens({ database, audit: controllerAudit }),
    resourceSnapshots: new ResourceSnapshots({ database, queue, budget, audit: controllerAudit }),
    resourceRestores: new ResourceRestores({ database, queue, budget, audit: controllerAudit }),
    resourceSchedules: new ResourceSchedules({ database, audit: controllerAudit }),
    resourceEnvironments: new ResourceEnvironments({ database, audit: controllerAudit }),
    feed,
    close: async () => {
      await feed.close();
      await audit.drain();
      await controllerAudit.drain();
      await usage.drain();
      await database.close();
    },
  };
}

/** A caller as an edge makes one: with a request id of its own. */
export function callerOf(principal: BearerPrincipal): Caller {
  return { principal, requestId: randomUUID(), sourceAddress: '192.0.2.7' };
}

/** Authenticates a token as an edge does. */
export async function authenticated(
  { authentication }: Pick<TestServices, 'authentication'>,
  token: Plaintext,
): Promise<Caller> {
  return callerOf(await authentication.authenticate(token.reveal()));
}

/** Inserts a person with a personal token, past the services: theirs need an instance admin who is there already. */
export async function createUser(
  services: Pick<TestServices, 'database' | 'authentication'>,
  options: { readonly instanceAdmin?: boolean } = {},
): Promise<TestUser> {
  const [id, credentialId] = [randomUUID(), randomUUID()];
  const email = `${id.slice(0, 8)}@example.test`;
  const { token, hash } = generateToken('personal_token', credentialId);
  const { prisma } = services.database;
  await prisma.user.create({ data: { id, email, instanceAdmin: options.instanceAdmin ?? false } });
  const creator = { createdByType: 'user', createdById: id, createdByName: email } as const;
  await prisma.personalToken.create({
    data: { id: credentialId, userId: id, name: 'test', tokenHash: hash, ...creator },
  });
  return { id, email, token, caller: await authenticated(services, token) };
}

/** A new world, whose slugs and people no other has. */
export async function createWorld(services: TestServices): Promise<World> {
  const owner = await createUser(services, { instanceAdmin: true });
  const slugs = { organization: `org-${owner.id.slice(0, 8)}`, project: 'web', environment: 'prod' };
  const { access } = services;
  const onOrganization: World['onOrganization'] = (caller, action) => access.organization(caller, action, slugs);
  const onProject: World['onProject'] = (caller, action) => access.project(caller, action, slugs);
  const onEnvironment: World['onEnvironment'] = (caller, action) => access.environment(caller, action, slugs);
  const organization = await services.organizations.create(
    await services.access.instance(owner.caller, 'organization.create'),
    { slug: slugs.organization },
  );
  const projectAccess = await onOrganization(owner.caller, 'project.create');
  const project = await services.projects.create(projectAccess, { slug: slugs.project });
  const environmentAccess = await onProject(owner.caller, 'environment.create');
  const environment = await services.environments.create(environmentAccess, { slug: slugs.environment });
  const member = async (role: Role): Promise<TestUser> => {
    const user = await createUser(services);
    const membership = await onOrganization(owner.caller, 'member.set');
    await services.members.set(membership, { id: user.id }, { role });
    return user;
  };
  const serviceToken: World['serviceToken'] = async (input = {}) => {
    const ownScope = input.scope === undefined ? { scope: 'environment' as const, environmentId: environment.id } : {};
    const wanted = {
      name: 'ci',
      permission: 'read_write' as const,
      scope: 'organization' as const,
      ...ownScope,
      ...input,
    };
    const creation = await onOrganization(owner.caller, 'service_token.create');
    const { record, token } = await services.serviceTokens.create(creation, wanted);
    return { id: record.id, token, caller: await authenticated(services, token) };
  };
  return {
    organization,
    project,
    environment,
    slugs,
    owner,
    admin: await member('admin'),
    developer: await member('developer'),
    viewer: await member('viewer'),
    stranger: await createUser(services),
    onOrganization,
    onProject,
    onEnvironment,
    serviceToken,
  };
}
