import { randomUUID } from 'node:crypto';
import { type Place, freshKey, freshSlug, seedKey } from './places.ts';
import { clusterPreparations } from './cluster-requests.ts';
import { issuerPreparations } from './issuer-requests.ts';
import type { Prepare, Prepared, Wanted } from './prepare.ts';
import { rolePreparations } from './role-requests.ts';
import { tokenPreparations } from './token-requests.ts';

const asItIs: Prepare = () => ({});
const displayName: Prepare = () => ({ body: { displayName: 'Renamed' } });
const newSlug: Prepare = () => ({ body: { slug: freshSlug('new') } });
const seed: Prepare = () => ({ params: { key: seedKey } });

async function ownUser({ founder, succeeds }: Wanted): Promise<string> {
  return (succeeds ? await founder.user() : founder.bystander).id;
}

async function disabledUser(wanted: Wanted): Promise<Prepared> {
  const id = await ownUser(wanted);
  if (wanted.succeeds) await wanted.founder.send('PATCH', `/users/${id}`, { disabled: true });
  return { params: { id } };
}

const user: Prepare = async (wanted) => ({ params: { id: await ownUser(wanted) } });

const userPasskey: Prepare = async (wanted) => {
  const id = await ownUser(wanted);
  return { params: { id, passkey: wanted.succeeds ? await wanted.founder.passkey(id) : randomUUID() } };
};

const ownPasskey: Prepare = async ({ founder, actor }) => ({
  params: { id: actor.isUser ? await founder.passkey(actor.id) : randomUUID() },
});

/** A member of the place's organization with this role; a bystander where the request will be refused for the caller's. */
async function member({ founder, place }: Wanted, role: 'owner' | 'developer'): Promise<{ user: string }> {
  const { id } = await founder.user();
  await founder.enrol(place.organizationId, id, role);
  return { user: id };
}

const ownSecret: Prepare = async ({ founder, place, succeeds }) => ({
  params: { key: succeeds ? await founder.secret(place) : seedKey },
});

const ownSnapshot: Prepare = async ({ founder, place, succeeds }) => ({
  params: { id: succeeds ? await founder.snapshot(place) : place.snapshotId },
});

const ownRevision: Prepare = async ({ founder, place, succeeds }) => ({
  params: { revision: succeeds ? await founder.revision(place) : '1' },
});

/** An invitation of the caller to a new organization. */
const ownInvitation: Prepare = async ({ founder, actor }) => {
  if (!actor.isUser) return { params: { id: randomUUID() } };
  return { params: { id: await founder.invitation(await founder.organization({ members: false }), actor.id) } };
};

const restore: Prepare = ({ place }) => ({ body: { snapshotId: place.snapshotId } });

/** A copy from another environment of the same project. A token of one environment can name no other than that. */
function copy(options: { readonly dryRun?: true } = {}): Prepare {
  return async ({ founder, place, succeeds }) => {
    const { project, environment } = succeeds ? await founder.environment(place) : place;
    return { body: { from: { project, environment }, mode: 'changed', ...options } };
  };
}
const deleted: Prepare = () => ({ query: '?deleted=true' });

const deletedOrganization: Prepare = async ({ founder, succeeds }) => {
  if (!succeeds) return {};
  const place = await founder.organization({ members: true });
  await founder.send('DELETE', `/organizations/${place.organization}`);
  return { place };
};

const deletedProject: Prepare = async ({ founder, place: within, succeeds }) => {
  if (!succeeds) return {};
  const place = await founder.similar(within, 'project');
  await founder.send('DELETE', `/projects/${place.organization}/${place.project}`);
  return { place };
};

const deletedEnvironment: Prepare = async ({ founder, place: within, succeeds }) => {
  if (!succeeds) return {};
  const place = await founder.similar(within, 'environment');
  await founder.send('DELETE', `/environments/${place.organization}/${place.project}/${place.environment}`);
  return { place };
};

/** The request of each line of the table: valid, and about something that is there. */
export const preparations: Readonly<Record<string, Prepare>> = {
  ...rolePreparations,
  ...clusterPreparations,
  ...tokenPreparations,
  ...issuerPreparations,

  'GET /me': asItIs,

  'GET /organizations': asItIs,
  'POST /organizations': newSlug,
  'GET /organizations/{org}': asItIs,
  'PATCH /organizations/{org}': displayName,
  'DELETE /organizations/{org}': async ({ founder, succeeds }) =>
    succeeds ? { place: await founder.organization({ members: true }) } : {},
  'GET /organizations [all]': () => ({ query: '?all=true' }),
  'GET /organizations [deleted]': deleted,
  'POST /organizations/{org}/undelete': deletedOrganization,
  'POST /organizations/{org}/undelete [live]': asItIs,
  'POST /organizations/{org}/purge': deletedOrganization,
  'PUT /organizations/{org}/owner': async ({ founder, succeeds }) => {
    if (!succeeds) return { body: { user: founder.bystander.id } };
    const place = await founder.organization({ members: false });
    await founder.leave(place.organizationId);
    return { place, body: { user: (await founder.user()).id } };
  },
  // Which is so already: forbidding it would refuse other lines' tokens.
  'PUT /organizations/{org}/impersonation': () => ({ body: { forbidden: false } }),
  'PUT /organizations/{org}/impersonation [forbidden]': async ({ founder, succeeds }) => ({
    ...(succeeds ? { place: await founder.organization({ members: true }) } : {}),
    body: { forbidden: true },
  }),

  'GET /projects/{org}': asItIs,
  'POST /projects/{org}': newSlug,
  'GET /projects/{org}/{project}': asItIs,
  'PATCH /projects/{org}/{project}': displayName,
  'DELETE /projects/{org}/{project}': async ({ founder, place, succeeds }) =>
    succeeds ? { place: await founder.similar(place, 'project') } : {},
  'GET /projects/{org} [deleted]': deleted,
  'POST /projects/{org}/{project}/undelete': deletedProject,
  'POST /projects/{org}/{project}/undelete [live]': asItIs,
  'POST /projects/{org}/{project}/purge': deletedProject,

  'GET /environments/{org}/{project}': asItIs,
  'POST /environments/{org}/{project}': newSlug,
  'GET /environments/{org}/{project}/{env}': asItIs,
  'PATCH /environments/{org}/{project}/{env}': displayName,
  'PATCH /environments/{org}/{project}/{env} [unprotected]': async ({ founder, place: within, succeeds }) => {
    const body = { protected: false };
    if (!succeeds) return { body };
    const place = await founder.similar(within, 'environment');
    const path = `/environments/${place.organization}/${place.project}/${place.environment}`;
    await founder.send('PATCH', path, { protected: true });
    return { place, body };
  },
  'DELETE /environments/{org}/{project}/{env}': async ({ founder, place, succeeds }) =>
    succeeds ? { place: await founder.similar(place, 'environment') } : {},
  'GET /environments/{org}/{project} [deleted]': deleted,
  'POST /environments/{org}/{project}/{env}/undelete': deletedEnvironment,
  'POST /environments/{org}/{project}/{env}/undelete [live]': asItIs,
  'POST /environments/{org}/{project}/{env}/purge': deletedEnvironment,

  'POST /environments/{org}/{project}/{env}/copy': copy(),
  'POST /environments/{org}/{project}/{env}/copy [dry]': copy({ dryRun: true }),

  'GET /users': asItIs,
  'POST /users': () => ({ body: { email: `${freshSlug('new')}@example.test` } }),
  'PUT /sign-in': () => ({ body: { open: true } }),
  // Tokens work on, and no line signs in with anything else.
  'PUT /sign-in [closed]': () => ({ body: { open: false } }),

  'GET /users/{id}': user,
  'PATCH /users/{id}': async (wanted) => ({ params: { id: await ownUser(wanted) }, body: { displayName: 'Renamed' } }),
  'PATCH /users/{id} [made_admin]': async (wanted) => ({
    params: { id: await ownUser(wanted) },
    body: { instanceAdmin: true },
  }),
  'PATCH /users/{id} [disabled]': async (wanted) => ({
    params: { id: await ownUser(wanted) },
    body: { disabled: true },
  }),
  'PATCH /users/{id} [enabled]': async (wanted) => ({ ...(await disabledUser(wanted)), body: { disabled: false } }),
  'PATCH /users/{id} [another_address]': async (wanted) => ({
    ...(await disabledUser(wanted)),
    body: { email: `${freshSlug('new')}@example.test` },
  }),
  'POST /users/{id}/personal-tokens': async (wanted) => ({
    params: { id: await ownUser(wanted) },
    body: { name: 'spare' },
  }),
  'DELETE /users/{id}/personal-tokens': user,
  'POST /users/{id}/sign-in-links': user,
  'GET /users/{id}/sessions': user,
  'DELETE /users/{id}/sessions': user,
  'GET /users/{id}/identities': user,
  'DELETE /users/{id}/identities/{identity}': async (wanted) => {
    const id = await ownUser(wanted);
    return { params: { id, identity: wanted.succeeds ? await wanted.founder.identity(id) : randomUUID() } };
  },
  'GET /users/{id}/passkeys': user,
  'DELETE /users/{id}/passkeys/{passkey}': userPasskey,
  'POST /users/{id}/passkeys/{passkey}/confirm': userPasskey,

  'GET /members/{org}': asItIs,
  'PUT /members/{org}/{user}': async (wanted) => ({
    params: { user: await ownUser(wanted) },
    body: { role: 'viewer' },
  }),
  'PUT /members/{org}/{user} [with_a_role]': async (wanted) => {
    const userId = await ownUser(wanted);
    if (wanted.succeeds) await wanted.founder.bind(wanted.place, 'project', { userId, role: 'viewer' });
    return { params: { user: userId }, body: { role: 'viewer' } };
  },
  'PUT /members/{org}/{user} [another_role]': async (wanted) => ({
    params: await member(wanted, 'developer'),
    body: { role: 'viewer' },
  }),
  'PUT /members/{org}/{user} [confirmed]': async (wanted) => ({
    params: await member(wanted, 'developer'),
    body: { role: 'developer', confirmTokens: true },
  }),
  'PUT /members/{org}/{user} [a_new_owner]': async (wanted) => ({
    params: { user: await ownUser(wanted) },
    body: { role: 'owner' },
  }),
  'PUT /members/{org}/{user} [an_owner_demoted]': async (wanted) => ({
    params: await member(wanted, 'owner'),
    body: { role: 'viewer' },
  }),
  'PUT /members/{org}/{user} [oneself_to_owner]': ({ actor }) => ({
    params: { user: actor.id },
    body: { role: 'owner' },
  }),
  'PUT /members/{org}/{user} [oneself_to_admin]': async ({ founder, actor, succeeds }) => ({
    ...(succeeds ? { place: await founder.organization({ members: true }) } : {}),
    params: { user: actor.id },
    body: { role: 'admin' },
  }),
  'DELETE /members/{org}/{user} [oneself]': async ({ founder, actor, succeeds }) => ({
    ...(succeeds ? { place: await founder.organization({ members: true }) } : {}),
    params: { user: actor.id },
  }),
  'DELETE /members/{org}/{user} [another]': async (wanted) => ({ params: await member(wanted, 'developer') }),
  'DELETE /members/{org}/{user} [an_owner]': async (wanted) => ({ params: await member(wanted, 'owner') }),
  'DELETE /members/{org}/{user} [the_last_owner]': async ({ founder, actor, place: own }) => {
    // For others than an owner, there being another owner makes no difference.
    const place = actor.name === 'owner' ? await founder.organization({ members: true }) : own;
    if (actor.name === 'owner') await founder.leave(place.organizationId);
    return { place, params: { user: founder.members.owner.id } };
  },

  'GET /personal-tokens': asItIs,
  'POST /personal-tokens': () => ({ body: { name: 'laptop' } }),
  'DELETE /personal-tokens/{id}': async ({ founder, actor }) => ({
    params: { id: actor.isUser ? await founder.personalToken(actor.id) : randomUUID() },
  }),

  'POST /sessions': asItIs,
  'GET /sessions': asItIs,
  'DELETE /sessions': asItIs,
  // For sessions alone, which are no callers of the table.
  'POST /logins': () => ({ body: { codeChallenge: 'x'.repeat(43) } }),
  'POST /device-logins/lookup': () => ({ body: { userCode: 'BCDF-GHJK' } }),
  'POST /device-logins/approve': () => ({ body: { userCode: 'BCDF-GHJK' } }),
  'GET /identities': asItIs,
  'DELETE /identities/{id}': async ({ founder, actor }) => ({
    params: { id: actor.isUser ? await founder.identity(actor.id) : randomUUID() },
  }),
  'GET /passkeys': asItIs,
  'POST /passkey-registrations': asItIs,
  'POST /passkeys': () => ({
    body: { name: 'x', id: 'AAAA', response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' } },
  }),
  'DELETE /passkeys/{id}': ownPasskey,
  'POST /passkeys/{id}/confirm': ownPasskey,
  'DELETE /sessions/{id}': async ({ founder, actor }) => ({
    params: { id: actor.isUser ? (await founder.session(actor.id)).id : randomUUID() },
  }),

  'GET /invitations': asItIs,
  'POST /invitations/{id}/accept': ownInvitation,
  'POST /invitations/{id}/decline': ownInvitation,
  'GET /organizations/{org}/invitations': asItIs,
  'POST /organizations/{org}/invitations': () => ({
    body: { email: `${freshSlug('new')}@example.test`, role: 'viewer' },
  }),
  'DELETE /organizations/{org}/invitations/{id}': async ({ founder, place }) => ({
    params: { id: await founder.invitation(place, (await founder.user()).id) },
  }),

  'GET /secrets/{org}/{project}/{env}': asItIs,
  'GET /secrets/{org}/{project}/{env} [filtered]': () => ({ query: '?values=false&prefix=SE' }),
  'GET /secrets/{org}/{project}/{env} [deleted]': deleted,
  'PATCH /secrets/{org}/{project}/{env}': () => ({ body: { set: { [freshKey()]: 'x' } } }),
  'PATCH /secrets/{org}/{project}/{env} [delete]': async (wanted) => ({
    body: { delete: [(await ownSecret(wanted)).params?.['key']] },
  }),
  'PATCH /secrets/{org}/{project}/{env} [generate]': () => ({ body: { generate: { [freshKey()]: {} } } }),
  'GET /secrets/{org}/{project}/{env}/{key}': seed,
  'PUT /secrets/{org}/{project}/{env}/{key}': () => ({ params: { key: freshKey() }, body: { value: 'x' } }),
  'PUT /secrets/{org}/{project}/{env}/{key} [again]': () => ({ params: { key: seedKey }, body: { value: 'x' } }),
  'DELETE /secrets/{org}/{project}/{env}/{key}': ownSecret,

  'GET /versions/{org}/{project}/{env}/{key}': seed,
  'POST /versions/{org}/{project}/{env}/{key}/rollback': () => ({
    params: { key: seedKey },
    body: { targetVersion: 1 },
  }),
  'GET /versions/{org}/{project}/{env}/{key}/{version}': () => ({ params: { key: seedKey, version: '1' } }),

  'POST /versions/{org}/{project}/{env}/{key}/{version}/destroy': async (wanted) => ({
    params: { key: seedKey, ...(await ownSecret(wanted)).params, version: '1' },
    body: {},
  }),

  'GET /snapshots/{org}/{project}/{env}': asItIs,
  'POST /snapshots/{org}/{project}/{env}': () => ({ body: { name: 'before' } }),
  'POST /snapshots/{org}/{project}/{env}/restore': restore,
  'POST /snapshots/{org}/{project}/{env}/restore [dry]': ({ place }) => ({
    body: { snapshotId: place.snapshotId, dryRun: true },
  }),
  // More than there are: what other lines are about stays there.
  'POST /snapshots/{org}/{project}/{env}/prune': () => ({ body: { retention: { keepLast: 1000 } } }),
  'POST /snapshots/{org}/{project}/{env}/prune [dry]': () => ({ body: { retention: { keepLast: 1 }, dryRun: true } }),
  'GET /snapshots/{org}/{project}/{env}/{id}': ({ place }) => ({ params: { id: place.snapshotId } }),
  'GET /snapshots/{org}/{project}/{env}/{id}/diff': ({ place }) => ({
    params: { id: place.snapshotId },
    query: '?against=current',
  }),
  'DELETE /snapshots/{org}/{project}/{env}/{id}': ownSnapshot,
  'GET /snapshots/{id}': ({ place }) => ({ params: { id: place.snapshotId } }),

  'GET /environments/{org}/{project}/{env}/consumers': asItIs,
  'GET /fleet/{org}': asItIs,
  'GET /fleet/{org}/restores': asItIs,

  'GET /audit': asItIs,
  'GET /audit/{org}': asItIs,

  'GET /changes/{org}/{project}/{env}': asItIs,
  'GET /changes/{org}/{project}/{env} [stream]': () => ({ headers: { accept: 'text/event-stream' } }),
  'POST /changes/{org}/{project}/{env}/{revision}/revert': ownRevision,
  'POST /changes/{org}/{project}/{env}/{revision}/revert [dry]': async (wanted) => ({
    ...(await ownRevision(wanted)),
    body: { dryRun: true },
  }),
};

/** A path below /api/v1: the template with its names filled in. */
export function pathOf(template: string, place: Place, { params = {}, query = '' }: Prepared): string {
  const { organization: org, project, environment: env } = place;
  const names: Readonly<Record<string, string>> = { org, project, env, ...params };
  const path = template.replaceAll(/\{([a-z]+)\}/g, (_brace, name: string) => {
    const text = names[name];
    if (text === undefined) throw new Error(`nothing stands for {${name}} of ${template}`);
    return encodeURIComponent(text);
  });
  return path + query;
}

/** The same request about something in the place that is not there. */
export function withMissingItem(prepared: Prepared): Prepared {
  const missing: Readonly<Record<string, string>> = {
    key: 'ABSENT',
    name: 'absent',
    version: '2000000',
    revision: randomUUID(),
    id: randomUUID(),
    identity: randomUUID(),
    passkey: randomUUID(),
    user: randomUUID(),
    subject: prepared.params?.['subject']?.startsWith('group:') === true ? 'group:absent' : randomUUID(),
  };
  const names = Object.keys(prepared.params ?? {});
  const last = names.at(-1) ?? '';
  return { ...prepared, params: { ...prepared.params, [last]: missing[last] ?? '' } };
}
