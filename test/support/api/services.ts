import { randomBytes, randomUUID } from 'node:crypto';
import { type Services, type ServicesOptions, openServices } from '../../../src/compose/services.ts';
import { RootKeys } from '../../../src/crypto/root-keys.ts';
import { generateToken } from '../../../src/crypto/token.ts';
import type { Plaintext } from '../../../src/domain/plaintext.ts';
import type { EnvironmentAction, OrganizationAction, ProjectAction } from '../../../src/domain/policy.ts';
import type { Caller, BearerPrincipal, Role } from '../../../src/domain/principal.ts';
import { createLogger, type Logger } from '../../../src/observability/logger.ts';
import type { EnvironmentAccess, OrganizationAccess, ProjectAccess } from '../../../src/services/access/access.ts';
import type { Invited } from '../../../src/services/people/invite.ts';
import type { EnvironmentRecord } from '../../../src/services/tenancy/environments.ts';
import type { OrganizationRecord } from '../../../src/services/tenancy/organizations.ts';
import type { ProjectRecord } from '../../../src/services/tenancy/projects.ts';
import type { CreateServiceTokenInput } from '../../../src/services/tokens/service-tokens.ts';
import { insertTenancy, insertUsers, type UserRow } from './world-rows.ts';

/** The server's services on a real database, which `close` closes. A test that needs streams of changes starts the feed. */
export interface TestServices extends Services {
  readonly url: string;
  /** Waits for writes in the background, and closes the database. */
  close(): Promise<void>;
}

export interface StartOptions extends Pick<
  ServicesOptions,
  | 'poolSize'
  | 'streams'
  | 'growthLimits'
  | 'release'
  | 'deviceLogin'
  | 'publicUrl'
  | 'oidc'
  | 'trustedIssuerPrivateAddresses'
> {
  /** `id:base64` lines; a new root key by default. Give the same to two starts on one database. */
  readonly rootKeys?: string;
  /** Of the services; silent by default. */
  readonly logger?: Logger;
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
  /** Creates a service token as the owner: `read_write` on the environment by default. */
  serviceToken(input?: Partial<CreateServiceTokenInput>): Promise<TestToken>;
}

/** One root key, as KEYFRAME_ROOT_KEY holds it. */
export function newRootKey(): string {
  return `test:${randomBytes(32).toString('base64')}`;
}

/** Starts the services on a migrated database. */
export async function startServices(url: string, options: StartOptions = {}): Promise<TestServices> {
  const open = new AsyncDisposableStack();
  const { rootKeys = newRootKey(), poolSize = 10 } = options;
  const parts = { ...options, databaseUrl: url, poolSize, rootKeys: RootKeys.parse(rootKeys) };
  try {
    const services = await openServices({ ...parts, logger: options.logger ?? createLogger('silent') }, open);
    return { ...services, url, close: () => open.disposeAsync() };
  } catch (error) {
    await open.disposeAsync();
    throw error;
  }
}

/** A caller as an edge creates it, with a new request id. */
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

interface NewUser {
  readonly instanceAdmin?: boolean;
  readonly email?: string;
}

/** Inserts a person with a personal token, past the services: theirs need an instance admin who is there already. */
export async function createUser(services: Pick<TestServices, 'database'>, wanted: NewUser = {}): Promise<TestUser> {
  const { user } = await createUsers(services, { user: wanted });
  return user;
}

async function createUsers<Name extends string>(
  { database }: Pick<TestServices, 'database'>,
  wanted: Readonly<Record<Name, NewUser>>,
): Promise<Record<Name, TestUser>> {
  const made = Object.entries<NewUser>(wanted).map(([name, { instanceAdmin = false, email }]) => {
    const [id, credentialId] = [randomUUID(), randomUUID()];
    const { token, hash } = generateToken('personal_token', credentialId);
    const row: UserRow = {
      id,
      email: email ?? `${id.slice(0, 8)}@example.test`,
      instanceAdmin,
      tokenId: credentialId,
      tokenHash: hash,
    };
    return { name, row, user: userOf(row, token) };
  });
  await insertUsers(
    database.pool,
    made.map(({ row }) => row),
  );
  return Object.fromEntries(made.map(({ name, user }) => [name, user])) as Record<Name, TestUser>;
}

/** The user as authentication finds them. */
function userOf({ id, email, instanceAdmin, tokenId: credentialId }: UserRow, token: Plaintext): TestUser {
  const principal = {
    type: 'user',
    id,
    name: email,
    instanceAdmin,
    tokenCreator: null,
    credentialId,
    expiresAt: null,
  } as const;
  return { id, email, token, caller: callerOf(principal) };
}

/** Accepts the invitation that a change of roles returned, as the invited user; nothing if the role was given at once. */
export async function accept(
  { access, invitations }: Pick<TestServices, 'access' | 'invitations'>,
  user: Pick<TestUser, 'caller'>,
  given: object,
): Promise<void> {
  if (!('invitation' in given)) return;
  const { id } = (given as Invited).invitation;
  await invitations.accept(await access.person(user.caller, 'invitation.accept'), id);
}

/** Makes a user a member of an organization, with the user's consent. */
export async function enrol(
  services: TestServices,
  by: Pick<TestUser, 'caller'>,
  user: Pick<TestUser, 'id' | 'caller'>,
  { organization, role }: { readonly organization: string; readonly role: Role },
): Promise<void> {
  const access = await services.access.organization(by.caller, 'member.set', { organization });
  await accept(services, user, await services.members.set(access, { id: user.id }, { role }));
}

/** A new world, whose slugs and people no other has. */
export async function createWorld(services: TestServices): Promise<World> {
  const people = await createUsers(services, {
    owner: { instanceAdmin: true },
    admin: {},
    developer: {},
    viewer: {},
    stranger: {},
  });
  const { owner, admin, developer, viewer } = people;
  const members = { admin: admin.caller, developer: developer.caller, viewer: viewer.caller };
  const slugs = { organization: `org-${owner.id.slice(0, 8)}`, project: 'web', environment: 'prod' };
  const { environment, ...place } = await insertTenancy(
    services.database.pool,
    { owner: owner.caller, members },
    slugs,
  );
  return worldOf(services, { ...people, ...place }, environment);
}

/** A project, and the people of its organization. */
export type ProjectPlace = Pick<
  World,
  'organization' | 'project' | 'owner' | 'admin' | 'developer' | 'viewer' | 'stranger'
>;

/** Creates a project as the owner of an organization. */
export async function createProject(
  services: TestServices,
  { organization, owner }: Pick<World, 'organization' | 'owner'>,
  slug: string,
): Promise<ProjectRecord> {
  const creation = { organization: organization.slug };
  return services.projects.create(await services.access.organization(owner.caller, 'project.create', creation), {
    slug,
  });
}

/** Creates an environment as the owner of a project; returns a world with the same people, which has it as its own. */
export async function createEnvironment(services: TestServices, place: ProjectPlace, slug: string): Promise<World> {
  const slugs = { organization: place.organization.slug, project: place.project.slug };
  const creation = await services.access.project(place.owner.caller, 'environment.create', slugs);
  return worldOf(services, place, await services.environments.create(creation, { slug }));
}

function worldOf(services: TestServices, place: ProjectPlace, environment: EnvironmentRecord): World {
  const { organization, project, owner, admin, developer, viewer, stranger } = place;
  const slugs = { organization: organization.slug, project: project.slug, environment: environment.slug };
  const { access } = services;
  const onOrganization: World['onOrganization'] = (caller, action) => access.organization(caller, action, slugs);
  const onProject: World['onProject'] = (caller, action) => access.project(caller, action, slugs);
  const onEnvironment: World['onEnvironment'] = (caller, action) => access.environment(caller, action, slugs);
  const serviceToken: World['serviceToken'] = async (input = {}) => {
    const ownScope = input.scope === undefined ? { scope: 'environment' as const, environmentId: environment.id } : {};
    const wanted = {
      name: 'ci',
      permission: 'read_write' as const,
      scope: 'organization' as const,
      ...ownScope,
      ...input,
    };
    const tokenCreation = await onOrganization(owner.caller, 'service_token.create');
    const { record, token } = await services.serviceTokens.create(tokenCreation, wanted);
    return { id: record.id, token, caller: await authenticated(services, token) };
  };
  return {
    organization,
    project,
    environment,
    slugs,
    owner,
    admin,
    developer,
    viewer,
    stranger,
    onOrganization,
    onProject,
    onEnvironment,
    serviceToken,
  };
}
