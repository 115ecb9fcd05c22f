import type { GrantRule } from '../../../src/domain/grants.ts';
import { secretSync } from './builders.ts';
import { Harness, prod, syncs } from './controller-harness.ts';
import { FakeServices, noResourceServices } from './fake-services.ts';
import { FakeTokens } from './fake-tokens.ts';

export const serviceTokensPath = '/apis/keyframe.dev/v1alpha1/namespaces/ns/servicetokens';
const grantsPath = '/apis/keyframe.dev/v1alpha1/accessgrants';

const rule: GrantRule = {
  organization: 'acme',
  project: 'web',
  environments: ['*'],
  permission: 'read',
  kinds: ['ServiceToken'],
};

/** A controller whose namespace may be granted ServiceTokens, for SecretSyncs that name no token. */
export class TokenHarness extends Harness {
  readonly serviceTokens: FakeTokens;

  constructor(before?: TokenHarness) {
    const services = before?.services ?? new FakeServices();
    const serviceTokens = before?.serviceTokens ?? new FakeTokens(services);
    const kept = before === undefined ? {} : { cluster: before.cluster };
    super({ services, ...kept, resources: { ...noResourceServices, ...serviceTokens.services } });
    this.serviceTokens = serviceTokens;
    for (const name of ['kube-system', 'ns']) this.cluster.put('/api/v1/namespaces', name, () => {});
  }

  /** The SecretSync ns/app of acme/web/prod with a ServiceToken of its own, under a grant, all in step. */
  async issued(): Promise<void> {
    this.services.create(prod, 'env', { A: 'alpha' });
    this.grant();
    this.putTokenless();
    await this.start();
    await this.clock.advance(1000);
    this.cluster.takeCalls();
    this.reconciled.splice(0);
  }

  /** Makes the SecretSync, or changes its spec, without a token. */
  putTokenless(name = 'app'): void {
    const { metadata, spec } = secretSync({ name });
    const { tokenSecretRef: _, ...bare } = spec;
    this.cluster.put(syncs, metadata.name, (object) => {
      object.metadata.generation = (object.metadata.generation ?? 0) + 1;
      object['spec'] = bare;
    });
  }

  grant(): void {
    this.cluster.put(grantsPath, 'team', (object) => {
      object.metadata.generation = 1;
      const rules = [{ ...rule, permission: 'Read' }];
      object['spec'] = { namespaces: ['ns'], rules };
    });
  }

  withdraw(): void {
    this.cluster.remove(`${grantsPath}/team`);
  }

  /** Uid of the ServiceToken that the SecretSync owns. */
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
