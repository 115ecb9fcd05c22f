import type { DeviceLoginView } from '../../src/wire/command-logins.ts';
import type { CreatedLinkView } from '../../src/wire/sign-in-links.ts';
import { Api } from '../start/api.ts';

/** What the fuzzer finds on the server: one of each thing, and a thing to destroy for each operation that destroys. */

/** Values that exist, by the names that the parts of paths and the fields of bodies have. */
export interface World {
  /** For every operation that nothing below is said of. */
  readonly path: PathValues;
  /** By the first part of a path: `id` is another one for each resource. */
  readonly resources: Readonly<Record<string, PathValues>>;
  /** By operation, such as `DELETE /organizations/{org}`. */
  readonly operations: Readonly<Record<string, PathValues>>;
  readonly body: Readonly<Record<string, string | number>>;
  /** By operation: a body whose fields fit together, which chance rarely finds. */
  readonly examples: Readonly<Record<string, object>>;
}

type PathValues = Readonly<Record<string, string>>;

interface Created {
  readonly id: string;
}

/** What no request can do. */
export interface Beyond {
  readonly actAsController: (environmentId: string) => Promise<string>;
  /** Lets the sign-in of a device end after the run. */
  readonly keepLogin: (deviceCode: string) => Promise<void>;
  /** Links an account of an issuer to a user, and returns the id of the identity. */
  readonly linkIdentity: (userId: string) => Promise<string>;
  /** Registers a passkey of a user, and returns its id. */
  readonly registerPasskey: (userId: string) => Promise<string>;
}

// The example of RFC 7636, appendix B.
const secret = {
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
};

const clusterRules = {
  rules: [{ project: 'shop', environments: ['production'], permission: 'read', kinds: ['SecretSync'] }],
};

const federatedToken = {
  name: 'jobs',
  scope: 'organization',
  permission: 'read',
  federation: { issuer: 'issuer', claims: { sub: ['ci'] } },
};

const trustedIssuer = {
  preset: 'none',
  iss: 'https://issuer.example',
  jwksUrl: 'https://issuer.example/keys',
  algorithms: ['RS256'],
};

// The public key of RFC 7517, appendix A.1: nothing is fetched for JWTs of this issuer.
const provingIssuer = {
  preset: 'none',
  iss: 'https://issuer.example',
  keys: [
    {
      kty: 'EC',
      crv: 'P-256',
      x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
      y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
    },
  ],
};

const remoteCluster = {
  iss: 'https://issuer.example',
  jwksUrl: 'https://issuer.example/keys',
  algorithms: ['RS256'],
  subject: 'system:serviceaccount:keyframe:keyframe-controller',
  fromHome: true,
};

const issuerBodies = { 'PUT /trusted-issuers/{name}': trustedIssuer, 'PUT /clusters/{name}': remoteCluster };

/** A user with the first personal token. */
interface CreatedUser extends Created {
  readonly token: string;
}

/**
 * Fills an empty server as its instance admin. Throws a sentence if a request is not answered as it should be.
 */
export async function makeWorld(api: Api, beyond: Beyond): Promise<World> {
  const { actAsController, keepLogin, linkIdentity } = beyond;
  const post = (path: string, body: object): Promise<Created> => api.call<Created>('POST', path, body);
  const scope = 'acme/shop/production';
  await post('/organizations', { slug: 'acme' });
  const project = await post('/projects/acme', { slug: 'shop' });
  const environment = await post('/environments/acme/shop', { slug: 'production' });
  // What copies read from.
  await post('/environments/acme/shop', { slug: 'staging' });
  await api.call('PATCH', `/secrets/${scope}`, { set: { API_KEY: 'one', DOOMED: 'two', GREETING: 'héllo' } });
  const snapshot = await post(`/snapshots/${scope}`, { name: 'first' });
  const tokenBody = { name: 'ci', scope: 'organization', permission: 'read' };
  const token = await post('/service-tokens/acme', tokenBody);
  const person = await api.call<CreatedUser>('POST', '/users', { email: 'person@example.test' });
  await enrol(api, person, { organization: 'acme', role: 'developer' });
  await api.call('PUT', `/projects/acme/shop/roles/${person.id}`, { role: 'developer' });
  const keylessId = await actAsController(environment.id);
  // Who is the only owner already may be appointed again.
  const { id: owner } = await api.call<Created>('GET', '/me');
  const login = await api.call<DeviceLoginView>('POST', '/device-logins', { codeChallenge: secret.challenge });
  await keepLogin(login.deviceCode);
  return {
    path: {
      org: 'acme',
      project: 'shop',
      env: 'production',
      user: person.id,
      subject: person.id,
      key: 'API_KEY',
      version: '1',
      revision: '1',
      name: 'fuzz',
    },
    resources: {
      'service-tokens': { id: token.id },
      snapshots: { id: snapshot.id },
      users: { id: person.id },
    },
    operations: {
      ...(await makeDoomed(api, scope, tokenBody)),
      // In an organization, only groups have roles.
      'PUT /organizations/{org}/roles/{subject}': { subject: 'group:builders' },
      ...(await makeTokens(api, { projectId: project.id, keylessId })),
      'DELETE /clusters/{name}': { name: 'doomed' },
      ...(await makeInvitations(api, person, owner)),
      'DELETE /identities/{id}': { id: await linkIdentity(owner) },
      'DELETE /users/{id}/identities/{identity}': { id: person.id, identity: await linkIdentity(person.id) },
      ...(await makePasskeys(beyond, { owner, personId: person.id })),
    },
    body: {
      user: owner,
      snapshotId: snapshot.id,
      projectId: project.id,
      environmentId: environment.id,
      targetVersion: 1,
      generation: 1,
      project: 'shop',
      environment: 'staging',
      code: login.deviceCode,
      codeVerifier: secret.verifier,
    },
    examples: {
      'POST /service-tokens/{org}': federatedToken,
      'PUT /organizations/{org}/clusters/{name}': clusterRules,
      ...issuerBodies,
      'POST /organizations/{org}/invitations': { email: 'new@example.test', role: 'viewer' },
      'POST /sign-in-links/lookup': { link: await signInLink(api) },
    },
  };
}

/** A link of a user of its own: another link, or the end of the sessions, ends the one that a user has. */
async function signInLink(api: Api): Promise<string> {
  const { id } = await api.call<Created>('POST', '/users', { email: 'link@example.test' });
  return (await api.call<CreatedLinkView>('POST', `/users/${id}/sign-in-links`)).link;
}

async function makePasskeys(
  { registerPasskey }: Pick<Beyond, 'registerPasskey'>,
  { owner, personId: id }: { readonly owner: string; readonly personId: string },
): Promise<World['operations']> {
  return {
    'POST /passkeys/{id}/confirm': { id: await registerPasskey(owner) },
    'DELETE /passkeys/{id}': { id: await registerPasskey(owner) },
    'POST /users/{id}/passkeys/{passkey}/confirm': { id, passkey: await registerPasskey(id) },
    'DELETE /users/{id}/passkeys/{passkey}': { id, passkey: await registerPasskey(id) },
  };
}

/** Makes a user a member of an organization, with the consent of the user. */
async function enrol(
  api: Api,
  { id, token }: CreatedUser,
  { organization, role }: { readonly organization: string; readonly role: string },
): Promise<void> {
  const invitation = await api.call<Created>('PUT', `/members/${organization}/${id}`, { role });
  await new Api(api.url, token).call('POST', `/invitations/${invitation.id}/accept`);
}

/** Invitations of the instance admin to an organization of another user, and one to withdraw. */
async function makeInvitations(api: Api, person: CreatedUser, adminId: string): Promise<Record<string, PathValues>> {
  await api.call('POST', '/organizations', { slug: 'inviting' });
  await enrol(api, person, { organization: 'inviting', role: 'owner' });
  await api.call('DELETE', `/members/inviting/${adminId}`);
  const host = new Api(api.url, person.token);
  await host.call('POST', '/projects/inviting', { slug: 'web' });
  const role = { role: 'viewer' };
  const accepted = await host.call<Created>('PUT', `/members/inviting/${adminId}`, role);
  const declined = await host.call<Created>('PUT', `/projects/inviting/web/roles/${adminId}`, role);
  const invited = await api.call<Created>('POST', '/users', { email: 'invited@example.test' });
  const withdrawn = await api.call<Created>('PUT', `/members/acme/${invited.id}`, role);
  return {
    'POST /invitations/{id}/accept': { id: accepted.id },
    'POST /invitations/{id}/decline': { id: declined.id },
    'DELETE /organizations/{org}/invitations/{id}': { id: withdrawn.id },
  };
}

/** Service tokens for the project, for the operations of its admins, and a federated one, whose issuer is at generation 1. */
async function makeTokens(
  api: Api,
  { projectId, keylessId }: { readonly projectId: string; readonly keylessId: string },
): Promise<World['operations']> {
  await api.call('PUT', '/trusted-issuers/issuer', provingIssuer);
  const federated = await api.call<Created>('POST', '/service-tokens/acme', federatedToken);
  const make = async (name: string): Promise<PathValues> => {
    const body = { name, scope: 'project', projectId, permission: 'read' };
    return { id: (await api.call<Created>('POST', '/projects/acme/shop/service-tokens', body)).id };
  };
  const token = await make('build');
  const path = '/projects/{org}/{project}/service-tokens/{id}';
  return {
    [`GET ${path}`]: token,
    [`POST ${path}/rotate`]: token,
    [`POST ${path}/reinstate`]: { id: keylessId },
    'POST /service-tokens/{org}/{id}/reinstate': { id: keylessId },
    'POST /service-tokens/{org}/{id}/accept-issuer': { id: federated.id },
    'POST /service-tokens/{org}/{id}/explain': { id: federated.id },
    [`DELETE ${path}`]: await make('doomed'),
  };
}

/** The slugs of the organizations, projects and environments that the world has. */
export function slugsOf({ path, operations }: World): string[] {
  const parts = [path, ...Object.values(operations)];
  return [...new Set(parts.flatMap(({ org, project, env }) => [org, project, env]))].filter(
    (slug) => slug !== undefined,
  );
}

/** A thing for each operation that destroys one, so that the others keep theirs. */
async function makeDoomed(api: Api, scope: string, tokenBody: object): Promise<Record<string, PathValues>> {
  const post = (path: string, body: object): Promise<Created> => api.call<Created>('POST', path, body);
  const [doomed, buried, missed] = ['doomed', 'buried', 'missed'];
  for (const slug of [doomed, buried, missed]) {
    await post('/organizations', { slug });
    await post('/projects/acme', { slug });
    await post('/environments/acme/shop', { slug });
  }
  // Where pruning and reverting take nothing that others need.
  await post('/environments/acme/shop', { slug: 'pruned' });
  await api.call('PUT', '/secrets/acme/shop/pruned/NEW', { value: 'new' });
  for (const path of ['/organizations', '/projects/acme', '/environments/acme/shop']) {
    for (const slug of [buried, missed]) await api.call('DELETE', `${path}/${slug}`);
  }
  const member = await api.call<CreatedUser>('POST', '/users', { email: 'doomed@example.test' });
  await enrol(api, member, { organization: 'acme', role: 'viewer' });
  const subject = 'group:doomed';
  const places = ['/organizations/acme', '/projects/acme/shop', `/environments/${scope}`];
  for (const place of places) await api.call('PUT', `${place}/roles/${subject}`, { role: 'viewer' });
  const personal = await post('/personal-tokens', { name: 'doomed' });
  const session = await api.call<Created>('POST', '/sessions');
  const service = await post('/service-tokens/acme', { ...tokenBody, name: 'doomed' });
  const snapshot = await post(`/snapshots/${scope}`, { name: 'doomed' });
  await api.call('PUT', '/trusted-issuers/doomed', trustedIssuer);
  for (const value of ['leaked', 'safe']) await api.call('PUT', `/secrets/${scope}/LEAKED`, { value });
  return {
    'DELETE /organizations/{org}': { org: doomed },
    'DELETE /trusted-issuers/{name}': { name: doomed },
    'POST /organizations/{org}/purge': { org: buried },
    'POST /organizations/{org}/undelete': { org: missed },
    'DELETE /projects/{org}/{project}': { project: doomed },
    'POST /projects/{org}/{project}/purge': { project: buried },
    'POST /projects/{org}/{project}/undelete': { project: missed },
    'DELETE /environments/{org}/{project}/{env}': { env: doomed },
    'POST /environments/{org}/{project}/{env}/purge': { env: buried },
    'POST /environments/{org}/{project}/{env}/undelete': { env: missed },
    'DELETE /users/{id}/personal-tokens': { id: member.id },
    'DELETE /users/{id}/sessions': { id: member.id },
    'DELETE /members/{org}/{user}': { user: member.id },
    'DELETE /organizations/{org}/roles/{subject}': { subject },
    'DELETE /projects/{org}/{project}/roles/{subject}': { subject },
    'DELETE /environments/{org}/{project}/{env}/roles/{subject}': { subject },
    'DELETE /personal-tokens/{id}': { id: personal.id },
    'DELETE /sessions/{id}': { id: session.id },
    'DELETE /service-tokens/{org}/{id}': { id: service.id },
    'DELETE /snapshots/{org}/{project}/{env}/{id}': { id: snapshot.id },
    'POST /snapshots/{org}/{project}/{env}/prune': { env: 'pruned' },
    'DELETE /secrets/{org}/{project}/{env}/{key}': { key: 'DOOMED' },
    'POST /versions/{org}/{project}/{env}/{key}/{version}/destroy': { key: 'LEAKED', version: '1' },
    'POST /changes/{org}/{project}/{env}/{revision}/revert': { env: 'pruned', revision: '1' },
  };
}
