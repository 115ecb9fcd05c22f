import { randomBytes, randomUUID } from 'node:crypto';
import { generateToken } from '../../../../src/crypto/token.ts';
import type { Role } from '../../../../src/domain/principal.ts';
import type { BoundRole } from '../../../../src/store/role-bindings.ts';
import type { TestApi } from '../../../support/api/http.ts';
import type { KeepAliveClient } from '../../../support/api/keep-alive-client.ts';
import { type TestUser, createUser } from '../../../support/api/services.ts';
import { insertIssuer } from '../../../support/api/trusted-issuers.ts';
import { prismaOf } from '../../../support/database/prisma.ts';
import type { ForeignTarget } from './foreign-targets.ts';
import { type Level, RoleHolders, idsOf } from './role-holders.ts';

/** Slugs and ids from an organization down to an environment. */
export interface Place {
  readonly organization: string;
  readonly project: string;
  readonly environment: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly environmentId: string;
  /** A snapshot of the environment. */
  readonly snapshotId: string;
  /** A service token of the organization. */
  readonly serviceTokenId: string;
}

export const roles: readonly Role[] = ['owner', 'admin', 'developer', 'viewer'];
export type Members = Readonly<Record<Role, TestUser>>;

/** Every environment's key from the start, with two versions. */
export const seedKey = 'SEED';

/** Of a user or of a group. */
export type Binding = { readonly role: BoundRole } & ({ readonly userId: string } | { readonly groupName: string });

interface FounderDeps {
  readonly api: TestApi;
  readonly client: KeepAliveClient;
}

/** The user who prepares, over HTTP, what the others ask about: an instance admin, and an owner of every organization. */
export class Founder {
  readonly #api: TestApi;
  readonly #client: KeepAliveClient;
  readonly #self: TestUser;
  readonly members: Members;
  /** A person without any role, whom others may see but no request changes. */
  readonly bystander: TestUser;
  readonly roleHolders: RoleHolders;

  private constructor(
    { api, client }: FounderDeps,
    people: { readonly self: TestUser; readonly members: Members; readonly bystander: TestUser },
    roleHolders: RoleHolders,
  ) {
    this.#api = api;
    this.#client = client;
    this.#self = people.self;
    this.members = people.members;
    this.bystander = people.bystander;
    this.roleHolders = roleHolders;
  }

  static async make(deps: FounderDeps): Promise<Founder> {
    const { services } = deps.api;
    const members = Object.fromEntries(
      await Promise.all(roles.map(async (role) => [role, await createUser(services)] as const)),
    ) as unknown as Members;
    const self = await createUser(services, { instanceAdmin: true });
    const people = { self, members, bystander: await createUser(services) };
    return new Founder(deps, people, await RoleHolders.make(deps.api));
  }

  /** A request that has to succeed; answers its body. */
  async send<Body = unknown>(method: string, path: string, body?: unknown): Promise<Body> {
    const authorization = `Bearer ${this.#self.token.reveal()}`;
    const { status, text } = await this.#client.ask({ method, path, authorization, body });
    if (status >= 300) throw new Error(`the founder's ${method} ${path} answered ${status}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Body;
  }

  /** A person without any role. */
  user(): Promise<TestUser> {
    return createUser(this.#api.services);
  }

  /** Id of a new personal token of a person. */
  async personalToken(userId: string): Promise<string> {
    const id = randomUUID();
    const { hash: tokenHash } = generateToken('personal_token', id);
    const creator = { createdByType: 'user', createdById: userId, createdByName: 'themselves' } as const;
    const data = { id, userId, name: 'spare', tokenHash, delegators: [], ...creator };
    await prismaOf(this.#api.services.database).personalToken.create({ data });
    return id;
  }

  /** Signs a person in, past the routes that are tested. Nothing says when the sign-in was, so it is not recent. */
  async session(userId: string): Promise<{ readonly id: string; readonly token: string }> {
    const [id, hourMs] = [randomUUID(), 3_600_000];
    const { token, hash: tokenHash } = generateToken('session', id);
    const data = { id, userId, tokenHash, expiresAt: new Date(Date.now() + hourMs), delegators: [] };
    await prismaOf(this.#api.services.database).session.create({ data });
    return { id, token: token.reveal() };
  }

  /** Links an account of an issuer to a person, and returns the id of the identity. */
  async identity(userId: string): Promise<string> {
    const id = randomUUID();
    const data = { id, userId, issuer: `https://${id}.example`, subject: 'x', delegators: [] };
    await prismaOf(this.#api.services.database).identity.create({ data });
    return id;
  }

  /** Registers a passkey of a person, and returns its id. */
  async passkey(userId: string): Promise<string> {
    const id = randomUUID();
    const key = { credentialId: Buffer.from(id), publicKey: Buffer.from('x'), counter: 0, backedUp: false };
    const data = { id, userId, rpId: 'keyframe.example.com', name: 'Laptop', delegators: [], ...key };
    await prismaOf(this.#api.services.database).passkey.create({ data });
    return id;
  }

  /** Gives a person a role, past the routes that are tested. */
  async enrol(organizationId: string, userId: string, role: Role): Promise<void> {
    await prismaOf(this.#api.services.database).membership.create({ data: { organizationId, userId, role } });
  }

  /** Gives a person a role in a place of this level, past the routes that are tested. */
  async bind(place: Place, level: Level, { role, ...subject }: Binding): Promise<void> {
    const data = { id: randomUUID(), ...idsOf(place, level), ...subject, role };
    await prismaOf(this.#api.services.database).roleBinding.create({ data });
  }

  /** Id of an invitation of a person to an organization, in which the founder is an owner, past the routes that are tested. */
  async invitation({ organizationId }: Pick<Place, 'organizationId'>, userId: string): Promise<string> {
    const id = randomUUID();
    const expiresAt = new Date(Date.now() + 3_600_000);
    const data = { id, organizationId, userId, role: 'viewer' as const, invitedBy: this.#self.id, expiresAt };
    await prismaOf(this.#api.services.database).invitation.create({ data });
    return id;
  }

  /** The name of a new group, which the person is in. */
  async group(userId: string): Promise<string> {
    const name = freshSlug('group');
    await this.roleHolders.join(name, userId);
    return name;
  }

  /** A project or an environment beside that of a place, in which everyone has the same role as there. */
  async similar(like: Place, level: 'project' | 'environment'): Promise<Place> {
    const place = await (level === 'project' ? this.project(like) : this.environment(like));
    await this.roleHolders.bindAlike(like, place, level);
    return place;
  }

  /** An organization of which each member has their role, or in which the founder alone has one. */
  async organization(options: { readonly members: boolean }): Promise<Place> {
    const slug = freshSlug('acme');
    const { id } = await this.send<{ id: string }>('POST', '/organizations', { slug });
    const data = roles.map((role) => ({ organizationId: id, userId: this.members[role].id, role }));
    if (options.members) await prismaOf(this.#api.services.database).membership.createMany({ data });
    const place = { ...nowhere, organization: slug, organizationId: id };
    if (options.members) await this.roleHolders.bind(place, 'organization');
    return { ...place, serviceTokenId: (await this.serviceToken(place, { scope: 'organization' })).id };
  }

  /** Takes the founder out of an organization, so that its owner is the last one. */
  async leave(organizationId: string): Promise<void> {
    const prisma = prismaOf(this.#api.services.database);
    await prisma.membership.deleteMany({ where: { userId: this.#self.id, organizationId } });
  }

  async project(within: Place, slug = freshSlug('app')): Promise<Place> {
    const { id } = await this.send<{ id: string }>('POST', `/projects/${within.organization}`, { slug });
    return { ...within, project: slug, projectId: id };
  }

  async environment(within: Place, slug = freshSlug('env')): Promise<Place> {
    const path = `/environments/${within.organization}/${within.project}`;
    const { id } = await this.send<{ id: string }>('POST', path, { slug });
    return { ...within, environment: slug, environmentId: id };
  }

  /** A key with two versions. */
  async secret({ organization, project, environment }: Place, key = freshKey()): Promise<string> {
    const path = `/secrets/${organization}/${project}/${environment}/${key}`;
    await this.send('PUT', path, { value: 'first' });
    await this.send('PUT', path, { value: 'second' });
    return key;
  }

  /** Id of a new revision, which creates a secret. */
  async revision({ organization, project, environment }: Place): Promise<string> {
    const path = `/secrets/${organization}/${project}/${environment}/${freshKey()}`;
    return (await this.send<{ revisionId: string }>('PUT', path, { value: 'first' })).revisionId;
  }

  async snapshot({ organization, project, environment }: Place): Promise<string> {
    const path = `/snapshots/${organization}/${project}/${environment}`;
    return (await this.send<{ id: string }>('POST', path, {})).id;
  }

  async serviceToken({ organization }: Place, input: object): Promise<{ id: string; token: string }> {
    return this.send('POST', `/service-tokens/${organization}`, { name: 'ci', permission: 'read', ...input });
  }

  /** The body of a request for a federated token, whose issuer exists. */
  async federatedToken(): Promise<object> {
    const { name: issuer } = await insertIssuer(this.#api.services.database);
    return { name: 'ci', scope: 'organization', permission: 'read', federation: { issuer, claims: { sub: ['ci'] } } };
  }

  /** Id of a revoked keyless token for the place's environment, past the controller. */
  async keylessToken({ organizationId, projectId, environmentId }: Place): Promise<string> {
    const id = randomUUID();
    await prismaOf(this.#api.services.database).serviceToken.create({
      data: {
        id,
        organizationId,
        projectId,
        environmentId,
        name: 'SecretSyncs of team-a',
        scope: 'environment',
        permission: 'read',
        createdById: randomUUID(),
        createdByType: 'resource',
        createdByName: 'SecretSync team-a/app',
        cluster: freshSlug('cluster'),
        namespace: 'team-a',
        revokedAt: new Date(),
      },
    });
    return id;
  }

  /** The name of a cluster that is known. */
  async cluster(): Promise<string> {
    const name = freshSlug('cluster');
    await prismaOf(this.#api.services.database).servedCluster.create({ data: { name } });
    return name;
  }

  /** The name of a trusted issuer, which proves no token. */
  async issuer(content: object): Promise<string> {
    const name = freshSlug('issuer');
    await this.send('PUT', `/trusted-issuers/${name}`, content);
    return name;
  }

  /** A project with an environment that has a seed and a snapshot. */
  async place(within: Place, slugs: { readonly project: string; readonly environment: string }): Promise<Place> {
    return this.seeded(await this.project(within, slugs.project), slugs.environment);
  }

  /** An environment that has a seed and a snapshot. */
  async seeded(within: Place, slug: string): Promise<Place> {
    const place = await this.environment(within, slug);
    await this.secret(place, seedKey);
    return { ...place, snapshotId: await this.snapshot(place) };
  }
}

const nowhere: Place = {
  organization: '',
  project: '',
  environment: '',
  organizationId: '',
  projectId: '',
  environmentId: '',
  snapshotId: '',
  serviceTokenId: '',
};

export interface Places {
  readonly own: Place;
  readonly foreign: ReadonlyMap<ForeignTarget, Place>;
}

/** The actors' own place and those beside it. Those to be deleted live until `deletePlaces`. */
export async function makePlaces(founder: Founder): Promise<Places> {
  const acme = await founder.organization({ members: true });
  const own = await founder.place(acme, { project: 'web', environment: 'prod' });
  // With the slugs of the own one: what looks a slug up without its parents is found out.
  const slugs = { project: 'web', environment: 'prod' };
  const foreign = new Map<ForeignTarget, Place>([
    ['sibling environment', await founder.seeded(own, 'staging')],
    ['sibling project', await founder.place(acme, { project: 'api', environment: 'prod' })],
    ['foreign organization', await founder.place(await founder.organization({ members: false }), slugs)],
    ['missing environment', { ...own, environment: 'absent' }],
    ['missing project', { ...own, project: 'absent' }],
    ['missing organization', { ...own, organization: freshSlug('absent') }],
    ['deleted environment', await founder.seeded(own, 'gone')],
    ['deleted project', await founder.place(acme, { project: 'gone', environment: 'prod' })],
    ['deleted organization', await founder.place(await founder.organization({ members: true }), slugs)],
  ]);
  for (const place of [own, foreign.get('deleted project'), foreign.get('deleted organization')]) {
    for (const level of ['project', 'environment'] as const) await founder.roleHolders.bind(place ?? nowhere, level);
  }
  await founder.roleHolders.bind(foreign.get('deleted environment') ?? nowhere, 'environment');
  return { own, foreign };
}

/** Deletes, in the database, what has to be deleted. */
export async function deletePlaces({ services }: TestApi, { foreign }: Places): Promise<void> {
  const prisma = prismaOf(services.database);
  const data = { deletedAt: new Date() };
  const id = (target: ForeignTarget): Place => foreign.get(target) ?? nowhere;
  await prisma.environment.update({ where: { id: id('deleted environment').environmentId }, data });
  await prisma.project.update({ where: { id: id('deleted project').projectId }, data });
  await prisma.organization.update({ where: { id: id('deleted organization').organizationId }, data });
}

export function freshSlug(start: string): string {
  return `${start}-${randomBytes(5).toString('hex')}`;
}

export function freshKey(): string {
  return `KEY_${randomBytes(5).toString('hex')}`;
}
