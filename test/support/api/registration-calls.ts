import type { RegisterCluster } from '../../../src/services/clusters/cluster-registrations.ts';
import { JwtSigner } from '../oidc/jwt-signer.ts';
import { createUser, type TestServices } from './services.ts';

/** What an instance admin says of remote clusters. Without more, the keys of `signer` are given by value. */
export class RegistrationCalls {
  readonly signer = new JwtSigner('ES256');
  readonly iss = 'https://kubernetes.default.svc.cluster.local';
  readonly subject = 'system:serviceaccount:keyframe:keyframe-controller';
  readonly #services: TestServices;

  constructor(services: TestServices) {
    this.#services = services;
  }

  async set(
    cluster: string,
    input: Partial<RegisterCluster> = {},
  ): ReturnType<TestServices['clusterRegistrations']['set']> {
    const { caller } = await createUser(this.#services, { instanceAdmin: true });
    const access = await this.#services.access.instance(caller, 'cluster.update');
    const keys = input.jwksUrl === undefined ? { keys: [this.signer.jwk] } : {};
    const content = { iss: this.iss, subject: this.subject, algorithms: ['ES256'] as const, ...keys };
    return await this.#services.clusterRegistrations.set(access, cluster, { ...content, ...input });
  }
}
