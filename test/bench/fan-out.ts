import type { ApiEnvironment } from '../support/api/api-client.ts';
import type { SecretObject } from '../support/cluster/secret-watch.ts';
import type { Fleet } from './fleet.ts';

/** One change that all Secrets of an environment took. */
export interface FanOut {
  readonly revisionId: string;
  /** When the last Secret took it, in milliseconds since the epoch. */
  readonly lastAtMs: number;
}

/** Writes a value and waits until every Secret of the environment has it. */
export async function takeFanOut(fleet: Fleet, environment: ApiEnvironment, value: string): Promise<FanOut> {
  const wanted = Buffer.from(value).toString('base64');
  const isMet = ({ data }: SecretObject): boolean => data?.['KEY_0'] === wanted;
  const all = fleet.secrets.all('take the change', fleet.secretsOf(environment), isMet);
  const { revisionId } = await environment.change({ KEY_0: value });
  return { revisionId, lastAtMs: await all };
}
