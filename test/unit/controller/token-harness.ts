import type { GrantRule } from '../../../src/domain/grants.ts';
import type { SecretSyncSpec } from '../../../src/controller/generated/secret-sync.ts';
import { secretSync } from './builders.ts';
import { Harness, prod, syncs } from './controller-harness.ts';
import { FakeServices, noResources } from './fake-services.ts';
import { FakeTokens } from './fake-tokens.ts';

export const serviceTokensPath = '/apis/keyframe.dev/v1alpha1/namespaces/ns/servicetokens';
export const grantsPath = '/apis/keyframe.dev/v1alpha1/accessgrants';

const tokenSpec = {
  scope: 'Environment',
  environmentRef: { organization: 'acme', project: 'web', name: 'prod' },
  permission: 'Read',
  suspend: false,
};

/** A controller whose namespace may be granted ServiceTokens and SecretSyncs. */
export class TokenHarness extends Harness {
  readonly serviceTokens: FakeTokens;

  constructor(before?: TokenHarness) {
    const services = before?.services ?? new FakeServices();
    const serviceTokens = before?.serviceTokens ?? new FakeTokens(services);
    const kept = before === undefined ? {} : { cluster: before.cluster };
    super({ services, ...kept, resources: { ...noResources, tokens: serviceTokens.backend } });
    this.serviceTokens = serviceTokens;
    serviceTokens.clock = () => this.clock.now();
    for (const name of ['kube-system', 'ns']) this.cluster.put('/api/v1/namespaces', name, () => {});
  }

  /** The SecretSync ns/app of acme/web/prod, which reads with the ServiceToken ns/app-token, under a grant, all in step. */
  async issued(): Promise<void> {
    await this.#inStep(() => this.putWithToken());
  }

  /** The SecretSync ns/app of acme/web/prod, which names no token, under a grant, all in step. */
  async keyless(): Promise<void> {
    await this.#inStep(() => this.putKeyless());
  }

  async #inStep(put: () => void): Promise<void> {
    this.services.create(prod, 'env', { A: 'alpha' });
    this.grant();
    put();
    await this.start();
    await this.clock.advance(1000);
    this.cluster.takeCalls();
    this.reconciled.splice(0);
  }

  /** Makes the SecretSync, or changes its spec: it reads with the ServiceToken ns/app-token, which is made first. */
  putWithToken(name = 'app'): void {
    this.putServiceToken('app-token');
    this.#putSpec(name, { tokenRef: { name: 'app-token' } });
  }

  /** Makes a ServiceToken of acme/web/prod, as a user does. */
  putServiceToken(name: string): void {
    this.cluster.put(serviceTokensPath, name, (object) => {
      object['spec'] = { ...tokenSpec };
    });
  }

  /** Makes the SecretSync, or changes its spec: it names no token. */
  putKeyless(name = 'app'): void {
    this.#putSpec(name, {});
  }

  #putSpec(name: string, reference: Pick<SecretSyncSpec, 'tokenRef'>): void {
    const { metadata, spec } = secretSync({ name });
    const { tokenSecretRef: _, ...bare } = spec;
    this.cluster.put(syncs, metadata.name, (object) => {
      object['spec'] = { ...bare, ...reference };
    });
  }

  /** Grants the namespace all environments of acme/web, for ServiceTokens unless other kinds are given. */
  grant(kinds: readonly GrantRule['kinds'][number][] = ['ServiceToken'], environments = ['*']): void {
    this.cluster.put(grantsPath, 'team', (object) => {
      const rules = [{ organization: 'acme', project: 'web', environments, permission: 'Read', kinds }];
      object['spec'] = { namespaces: ['ns'], rules };
    });
  }

  withdraw(): void {
    this.cluster.remove(`${grantsPath}/team`);
  }

  /** Uid of the ServiceToken that the SecretSync reads with. */
  get tokenUid(): string {
    return this.cluster.get(`${serviceTokensPath}/app-token`)?.metadata.uid ?? '';
  }

  /** Reason of the ServiceToken's condition Ready. */
  get tokenReason(): string | undefined {
    const status = this.cluster.get(`${serviceTokensPath}/app-token`)?.['status'] as
      { readonly conditions?: readonly { readonly type: string; readonly reason: string }[] } | undefined;
    return status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
  }
}
