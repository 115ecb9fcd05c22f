import type { SecretSyncSpec } from '../../../src/controller/generated/secret-sync.ts';
import { Harness } from './controller-harness.ts';
import { serviceToken } from './fake-services.ts';

export type SpecSource = NonNullable<SecretSyncSpec['sources']>[number];

/** The slugs of an environment acme/web/<name>. */
export const environmentRef = (name: string): SpecSource['environmentRef'] => ({
  organization: 'acme',
  project: 'web',
  name,
});

/** A source of the name of its environment, acme/web/<name>, with the token in the Secret `token-<name>`. */
export function sourceOf(name: string, more: Partial<SpecSource> = {}): SpecSource {
  return {
    name,
    environmentRef: environmentRef(name),
    tokenSecretRef: { name: `token-${name}`, key: 'token' },
    ...more,
  };
}

/** What the environments of the sources hold at first. */
export const sharedValues = { A: 'shared a', B: 'shared b', C: 'shared c' };
export const ownValues = { B: 'own b', D: 'own d' };
export const united = { A: 'shared a', B: 'own b', C: 'shared c', D: 'own d' };

/** A controller with the environments acme/web/shared and acme/web/own, and a token for each. */
export class SourceHarness extends Harness {
  constructor(before?: SourceHarness) {
    super(before === undefined ? {} : { cluster: before.cluster, services: before.services });
    if (before !== undefined) return;
    for (const [name, values] of Object.entries({ shared: sharedValues, own: ownValues })) {
      this.makeEnvironment(name, values);
    }
  }

  /** The environment acme/web/<name> with a token for it in the Secret `token-<name>`. */
  makeEnvironment(name: string, values: Record<string, string>, id = name): void {
    this.services.create(pathOf(name), id, values);
    this.services.tokens.set(`kf_svc_${name}`, serviceToken(name));
    this.putToken(`kf_svc_${name}`, `token-${name}`);
  }

  /** ns/app in step with these sources; with the shared one and its own by default. */
  async syncedWith(
    sources: readonly SpecSource[] = [sourceOf('shared'), sourceOf('own')],
    more: Partial<SecretSyncSpec> = {},
  ): Promise<void> {
    this.put(sources, more);
    await this.start();
    this.cluster.takeCalls();
    this.reconciled.splice(0);
  }

  put(sources: readonly SpecSource[], more: Partial<SecretSyncSpec> = {}): void {
    this.putSync({ spec: { ...more, sources: [...sources] } });
  }

  annotation(name: string): unknown {
    const text = this.target()?.metadata.annotations?.[`keyframe.dev/${name}`];
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** Commits values of acme/web/<name>. */
  change(name: string, values: Record<string, string>, options: { readonly missed?: boolean } = {}): void {
    this.services.change(pathOf(name), values, options);
  }
}

export const pathOf = (name: string): string => `acme/web/${name}`;
