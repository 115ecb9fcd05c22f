import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import { CliError, usageError } from '../../core/cli-error.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { isId } from '../named-thing.ts';

/**
 * The id of a user by e-mail address, or of a service token by name, in an organization or on the whole server.
 *
 * @throws CliError usage if several have the name, not found if none has it.
 */
export async function actorId(api: ApiClient, actor: string, organization: string | undefined): Promise<string> {
  if (isId(actor)) return actor;
  const ids = actor.includes('@')
    ? await userIds(api, actor.toLowerCase(), organization)
    : await tokenIds(api, actor, organization);
  const [id, ...others] = ids;
  if (id !== undefined && others.length === 0) return id;
  const place = organization === undefined ? 'of the server' : `of ${organization}`;
  const kind = actor.includes('@') ? 'user' : 'service token';
  if (id === undefined) {
    throw new CliError(exitCodes.notFound, `there is no ${kind} ${actor} ${place}`, {
      next: ['For a former member or token, give the id: keyframe audit --output json shows actor.id'],
    });
  }
  throw usageError(
    `${ids.length} service tokens ${place} have the name ${JSON.stringify(actor)}; give one of their ids`,
    ...ids.map((one) => `--actor ${one}`),
  );
}

async function userIds(api: ApiClient, email: string, organization: string | undefined): Promise<string[]> {
  if (organization === undefined) {
    const { users } = (await call(api, 'GET /users')).body;
    return users.filter((user) => user.email.toLowerCase() === email).map(({ id }) => id);
  }
  const { members } = (await call(api, 'GET /members/{org}', { params: { org: organization } })).body;
  return members.filter((member) => member.email.toLowerCase() === email).map(({ userId }) => userId);
}

async function tokenIds(api: ApiClient, name: string, organization: string | undefined): Promise<string[]> {
  if (organization === undefined) return [];
  const { body } = await call(api, 'GET /service-tokens/{org}', { params: { org: organization } });
  return body.serviceTokens.filter((token) => token.name === name).map(({ id }) => id);
}
