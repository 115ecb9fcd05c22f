import type { ApiEnvironment } from '../support/api/api-client.ts';
import { adminClient } from '../support/cluster/cluster.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { type Fleet, isReady, randomValues } from './fleet.ts';
import { createSync } from './secret-contender.ts';

const resourcePath = '/apis/keyframe.dev/v1alpha1/namespaces';

/** A Secret, its SecretSync of the same name, and the environment that it must equal. */
export interface Followed {
  readonly namespace: string;
  readonly name: string;
  readonly environment: ApiEnvironment;
}

/** The ServiceToken of each namespace, and the Secret with its value. */
export const rotatedToken = 'rotated-token';
/** The SecretSync of each namespace that is deleted and created again. */
export const passingSync = 'passing';
const rotatedSync = 'rotated';

/**
 * What a soak does its work with: a fleet, and three resources in each of its namespaces. A ServiceToken that is rotated each
 * minute, a SecretSync that reads with it, and a SecretSync that is deleted and created again, with its Secret.
 */
export class SoakCrowd {
  readonly fleet: Fleet;
  /** The environment of the three resources, by namespace. */
  readonly environments: ReadonlyMap<string, ApiEnvironment>;
  readonly #present = new Set<string>();

  private constructor(fleet: Fleet, environments: ReadonlyMap<string, ApiEnvironment>) {
    this.fleet = fleet;
    this.environments = environments;
  }

  /** Makes so many SecretSyncs and all the rest, and waits until all are Ready. */
  static async make(fleet: Fleet, size: number): Promise<SoakCrowd> {
    await fleet.add(size);
    const environments = new Map<string, ApiEnvironment>();
    for (const namespace of fleet.namespaces) environments.set(namespace, await fleet.makeEnvironment(randomValues()));
    const crowd = new SoakCrowd(fleet, environments);
    for (const [namespace, environment] of environments) {
      await createRotatedToken(namespace, environment);
      const spec = { environmentRef: environment.ref, tokenRef: { name: rotatedToken } };
      await createSync(namespace, rotatedSync, spec);
      await crowd.togglePassing(namespace);
    }
    const keys = crowd.followed().map(({ namespace, name }) => `${namespace}/${name}`);
    await fleet.syncs.all('be Ready', keys, isReady);
    return crowd;
  }

  /** Everything that is to be in step now. */
  followed(): readonly Followed[] {
    const ofFleet = this.fleet.environments.flatMap((environment) =>
      this.fleet.secretsOf(environment).map((key) => {
        const [namespace = '', name = ''] = key.split('/');
        return { namespace, name, environment };
      }),
    );
    const others = [...this.environments].flatMap(([namespace, environment]) => [
      { namespace, name: rotatedSync, environment },
      ...(this.#present.has(namespace) ? [{ namespace, name: passingSync, environment }] : []),
    ]);
    return [...ofFleet, ...others];
  }

  /** The namespaces in which no passing SecretSync exists now, nor its Secret. */
  withoutPassing(): readonly string[] {
    return this.fleet.namespaces.filter((namespace) => !this.#present.has(namespace));
  }

  /** Deletes the passing SecretSync of a namespace, and waits until it has gone; or creates it if it does not exist. */
  async togglePassing(namespace: string): Promise<void> {
    const environment = this.environments.get(namespace);
    if (environment === undefined) throw new Error(`the fleet has no namespace ${namespace}`);
    if (this.#present.delete(namespace)) {
      const path = `${resourcePath}/${namespace}/secretsyncs/${passingSync}`;
      await adminClient().json({ method: 'DELETE', path });
      await waitFor('the SecretSync to go', async () => (await adminClient().find({ path })) === undefined);
    } else {
      const spec = { environmentRef: environment.ref, target: { deletionPolicy: 'Delete' } };
      await createSync(namespace, passingSync, spec);
      this.#present.add(namespace);
    }
  }
}

async function createRotatedToken(namespace: string, { ref }: ApiEnvironment): Promise<void> {
  const rotation = { interval: '1m', overlap: '5s', maxOverlap: '40s' };
  const body = {
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'ServiceToken',
    metadata: { name: rotatedToken },
    spec: { scope: 'Environment', environmentRef: ref, expiresIn: '5m', rotation },
  };
  await adminClient().json({ method: 'POST', path: `${resourcePath}/${namespace}/servicetokens`, body });
}
