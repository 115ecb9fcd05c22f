import { randomUUID } from 'node:crypto';
import { generateToken, parseToken } from '../../../../src/crypto/token.ts';
import type { TestApi } from '../../../support/api/http.ts';
import { type TestUser, createUser } from '../../../support/api/services.ts';
import { prismaOf } from '../../../support/database/prisma.ts';
import { FederationFixtures, jwtFor } from '../../../support/oidc/federation-fixtures.ts';
import { JwtSigner, timesFor } from '../../../support/oidc/jwt-signer.ts';
import type { ActorName } from './actors.ts';
import { type DeadCredential, deadCredentials } from './expectations.ts';
import { type Founder, type Place, type Places, roles } from './places.ts';

/** A caller with a live credential. */
export interface Actor {
  readonly name: ActorName;
  /** A user's or a service token's. */
  readonly id: string;
  readonly isUser: boolean;
  readonly authorization: string;
  /** Of a service token: its JWT, in place of its value. */
  readonly jwt?: string;
}

type ServiceToken = { readonly id: string; readonly token: string };

/** All callers of the table. The service tokens belong to the tested organization. */
export async function makeActors(api: TestApi, founder: Founder, own: Place): Promise<Actor[]> {
  const people: [ActorName, TestUser][] = [
    ...roles.map((role): [ActorName, TestUser] => [role, founder.members[role]]),
    ['stranger', await createUser(api.services)],
    ['instance-admin', await createUser(api.services, { instanceAdmin: true })],
    ...founder.roleHolders.users,
  ];
  const machines: [ActorName, ServiceToken][] = [];
  for (const [scope, ids] of Object.entries(scopesOf(own))) {
    for (const [suffix, permission] of [
      ['r', 'read'],
      ['rw', 'read_write'],
    ] as const) {
      const token = await founder.serviceToken(own, { scope, ...ids, permission });
      machines.push([`${scope}-${suffix}` as ActorName, token]);
    }
  }
  const federate = await federation(api);
  return [
    ...people.map(([name, { id, token }]) => ({ name, id, isUser: true, authorization: bearer(token.reveal()) })),
    ...(await Promise.all(
      machines.map(async ([name, token]) => {
        const jwt = bearer((await federate(token))());
        return { name, id: token.id, isUser: false, authorization: bearer(token.token), jwt };
      }),
    )),
  ];
}

/** Signs JWTs that prove a service token, which live for an hour. */
type Federate = (
  token: ServiceToken,
) => Promise<(jwt?: { aud?: string; signer?: JwtSigner; claims?: object }) => string>;

/** Lets JWTs of a new issuer prove service tokens. */
async function federation({ services }: TestApi): Promise<Federate> {
  const own = new JwtSigner();
  const fixtures = new FederationFixtures(services.database.pool);
  const issuer = await fixtures.issuer({ signers: [own] });
  return async ({ id, token }) => {
    const audience = await fixtures.federate({ id, credentialId: parseToken(token)?.credentialId ?? '' }, issuer);
    return ({ aud, signer = own, claims = {} } = {}) =>
      jwtFor(signer, issuer, aud === undefined ? audience : [audience, aud], { ...timesFor(3_600), ...claims });
  };
}

function scopesOf({ projectId, environmentId }: Place): Record<string, object> {
  return { organization: {}, project: { projectId }, environment: { environmentId } };
}

export interface DeadCredentials {
  /** Authorization headers; undefined for none. */
  readonly headers: ReadonlyMap<DeadCredential, string | undefined>;
  /** Live credentials of the same people and tokens, to see that it is not for want of a right that they are refused. */
  readonly alive: readonly string[];
}

/** Makes credentials, all of which would open nearly everything if they were live. Before `deletePlaces`. */
export async function makeDeadCredentials(api: TestApi, founder: Founder, places: Places): Promise<DeadCredentials> {
  const people = await deadPersonalTokens(api, founder, places.own);
  const machines = await deadServiceTokens(api, founder, places);
  const unknown = generateToken('personal_token', randomUUID()).token.reveal();
  const headers = new Map<DeadCredential, string | undefined>([
    ['no credential', undefined],
    ['another scheme', `Basic ${Buffer.from(`keyframe:${unknown}`).toString('base64')}`],
    ['a malformed token', bearer(`${unknown.slice(0, -1)}!`)],
    ['an unknown token', bearer(unknown)],
    ...people.dead,
    ...machines.dead,
  ]);
  const missing = deadCredentials.filter((name) => !headers.has(name));
  if (missing.length > 0) throw new Error(`missing callers: ${missing.join(', ')}`);
  return { headers, alive: [people.alive, machines.alive] };
}

interface Made {
  readonly dead: readonly [DeadCredential, string][];
  readonly alive: string;
}

/** Of owners who are instance admins too. */
async function deadPersonalTokens(api: TestApi, founder: Founder, { organizationId }: Place): Promise<Made> {
  const prisma = prismaOf(api.services.database);
  const [lapsed, disabled] = [
    await createUser(api.services, { instanceAdmin: true }),
    await createUser(api.services, { instanceAdmin: true }),
  ];
  for (const { id } of [lapsed, disabled]) await founder.enrol(organizationId, id, 'owner');
  await prisma.user.update({ where: { id: disabled.id }, data: { disabledAt: new Date() } });
  const dead = async (fields: object): Promise<string> => {
    const id = randomUUID();
    const { token, hash } = generateToken('personal_token', id);
    await prisma.personalToken.create({
      data: { id, userId: lapsed.id, name: 'dead', tokenHash: hash, delegators: [], ...fields },
    });
    return bearer(token.reveal());
  };
  const forged = generateToken('personal_token', lapsed.caller.principal.credentialId).token.reveal();
  return {
    alive: bearer(lapsed.token.reveal()),
    dead: [
      ['the id of a live token with another secret part', bearer(forged)],
      ['an expired personal token', await dead({ expiresAt: new Date(Date.now() - 1000) })],
      ['a revoked personal token', await dead({ revokedAt: new Date() })],
      ['a personal token of a disabled user', bearer(disabled.token.reveal())],
    ],
  };
}

async function deadServiceTokens(api: TestApi, founder: Founder, { own, foreign }: Places): Promise<Made> {
  const prisma = prismaOf(api.services.database);
  const make = (place: Place, scope: object): Promise<ServiceToken> =>
    founder.serviceToken(place, { permission: 'read_write', ...scope });
  const credential = async (serviceTokenId: string, fields: object): Promise<string> => {
    const id = randomUUID();
    const { token, hash } = generateToken('service_token', id);
    const data = { id, serviceTokenId, serial: 2 + issued++, tokenHash: hash, ...fields };
    await prisma.serviceTokenCredential.create({ data });
    return bearer(token.reveal());
  };
  let issued = 0;
  const wide = { scope: 'organization' };
  const [live, revoked] = [await make(own, wide), await make(own, wide)];
  await prisma.serviceToken.update({ where: { id: revoked.id }, data: { revokedAt: new Date() } });
  const doomed = async (target: 'environment' | 'project' | 'organization'): Promise<string> => {
    const place = foreign.get(`deleted ${target}`) ?? own;
    return bearer((await make(place, { scope: target, ...scopesOf(place)[target] })).token);
  };
  const federate = await federation(api);
  const [jwt, jwtOfRevoked] = [await federate(live), await federate(revoked)];
  return {
    alive: bearer(live.token),
    dead: [
      ['a JWT of another key', bearer(jwt({ signer: new JwtSigner() }))],
      ['a JWT that has expired', bearer(jwt({ claims: timesFor(60, Date.now() - 3_600_000) }))],
      ['a JWT with another audience beside', bearer(jwt({ aud: 'https://vault.example' }))],
      ['a JWT with another claim', bearer(jwt({ claims: { repository_id: '43' } }))],
      ['a JWT of a revoked service token', bearer(jwtOfRevoked())],
      ['an expired service token', await credential(live.id, { expiresAt: new Date(Date.now() - 1000) })],
      ['a revoked service token', bearer(revoked.token)],
      ['a revoked credential of a live service token', await credential(live.id, { revokedAt: new Date() })],
      ['a pending service token', await credential(live.id, { state: 'pending' })],
      ['a service token whose environment is deleted', await doomed('environment')],
      ['a service token whose project is deleted', await doomed('project')],
      ['a service token whose organization is deleted', await doomed('organization')],
    ],
  };
}

function bearer(token: string): string {
  return `Bearer ${token}`;
}
