import type { FederationView } from '../../../wire/federation.ts';
import type { CreatedServiceTokenView, NewServiceTokenView, ServiceTokenView } from '../../../wire/service-tokens.ts';
import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import { ClientError } from '../../../client/client-error.ts';
import type { CommandContext } from '../../core/command.ts';
import type { ObjectView } from '../../terminal/printer.ts';
import { time } from '../../terminal/time.ts';
import { noteShownOnce } from './shown-once.ts';

/** Prints a new service token: with its value, which no later answer holds, or with what proves it. */
export async function printNewServiceToken(
  context: CommandContext,
  organization: string,
  created: NewServiceTokenView,
): Promise<void> {
  const { id, name, permission, expiresAt } = created;
  // Slugs are nicer than ids, but whatever happens now, the token must be printed: it cannot be shown again.
  const places = await placesOf(context, organization, [created]).catch((): Places => new Map());
  const fields: ObjectView['fields'] = [
    ['Id', id],
    ['Name', name],
    ['Scope', scopeText(created, places)],
    ['Permission', permission],
    ['Expires', time(expiresAt) ?? 'never'],
  ];
  if ('token' in created) return printWithValue(context, created, fields);
  await context.printer.object({
    value: created,
    fields: [...fields, ...federationFields(created.federation)],
    name: id,
  });
  context.io.note(
    'The token has no value. Request JWTs of the issuer with exactly this audience, and send them as the token (docs/ci.md).',
  );
}

async function printWithValue(
  context: CommandContext,
  created: CreatedServiceTokenView,
  fields: ObjectView['fields'],
): Promise<void> {
  const { id, token } = created;
  await context.printer.object({ value: created, fields: [...fields, ['Token', token]], name: id, token });
  noteShownOnce(context);
}

/** What proves a token. */
export function kindText({ holder, federation }: ServiceTokenView): string {
  if (federation !== undefined) return 'federated';
  return holder === null ? 'value' : 'keyless';
}

/** The issuer of a federated token, and whether it is another one than was accepted. */
export function issuerText({ issuer, isAccepted, issuerGeneration }: FederationView): string {
  if (issuerGeneration === null) return `${issuer} (deleted)`;
  return isAccepted ? issuer : `${issuer} (changed)`;
}

/** The lines of what proves a federated token. */
export function federationFields({
  issuer,
  claims,
  audience,
}: Pick<FederationView, 'issuer' | 'claims' | 'audience'>): ObjectView['fields'] {
  return [
    ['Issuer', issuer],
    ['Claims', claimsText(claims)],
    ['Audience', audience],
  ];
}

/** Such as `environment=production, repository_id=1 or 2`. */
function claimsText(claims: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(claims)
    .map(([claim, values]) => `${claim}=${values.join(' or ')}`)
    .join(', ');
}

/** The slugs of projects and environments by their ids: `shop`, `shop/production`. */
export type Places = ReadonlyMap<string, string>;

/** The places that tokens are limited to, for a table; those that the caller may not list are left out. */
export async function placesOf(
  { api, printer }: CommandContext,
  organization: string,
  tokens: readonly ServiceTokenView[],
): Promise<Places> {
  const limited = tokens.filter(({ projectId }) => projectId !== null);
  if (printer.format !== 'table' || limited.length === 0) return new Map();
  const within = new Set(
    limited.flatMap(({ projectId, environmentId }) => (environmentId === null ? [] : [projectId])),
  );
  try {
    const { projects } = (await call(api(), 'GET /projects/{org}', { params: { org: organization } })).body;
    const environments = await Promise.all(
      projects.filter(({ id }) => within.has(id)).map(({ slug }) => environmentsOf(api(), organization, slug)),
    );
    return new Map([...projects.map(({ id, slug }) => [id, slug] as const), ...environments.flat()]);
  } catch (error) {
    if (error instanceof ClientError && !error.isOutage) return new Map();
    throw error;
  }
}

async function environmentsOf(
  api: ApiClient,
  organization: string,
  project: string,
): Promise<(readonly [id: string, path: string])[]> {
  const { body } = await call(api, 'GET /environments/{org}/{project}', { params: { org: organization, project } });
  return body.environments.map(({ id, slug }) => [id, `${project}/${slug}`] as const);
}

/** The scope with the place that it is limited to; its id if it is deleted or not visible. */
export function scopeText({ scope, projectId, environmentId }: ServiceTokenView, places: Places): string {
  const id = environmentId ?? projectId;
  return id === null ? scope : `${scope} ${places.get(id) ?? id}`;
}
