import type { Stack } from './stack.ts';
import { SecretWatch, secretValues } from './secret-watch.ts';
import type { SyncSite } from './sync-site.ts';

/** A synced Secret with the key COUNT, which is `0` at first, and everything that a watch has seen of it since. */
export class CountedSite {
  readonly site: SyncSite;
  readonly #watch: SecretWatch;

  private constructor(site: SyncSite, watch: SecretWatch) {
    this.site = site;
    this.#watch = watch;
  }

  /** Makes it under a name in a namespace; the watch ends with `resources`. */
  static async make(
    resources: AsyncDisposableStack,
    stack: Stack,
    { namespace, name }: { readonly namespace: string; readonly name: string },
  ): Promise<CountedSite> {
    const site = await stack.makeSite({ namespace, name, values: { COUNT: '0' } });
    await site.waitUntilSynced({ COUNT: '0' });
    const watch = await SecretWatch.open(stack.kube, { namespace, name });
    resources.defer(() => watch.close());
    return new CountedSite(site, watch);
  }

  /** The values of COUNT that the Secret has had, in order; no watch reports a write that changes nothing. */
  history(): number[] {
    return this.#watch.events.map(({ secret }) => Number(secretValues(secret).get('COUNT')));
  }

  async holds(count: string): Promise<boolean> {
    return secretValues(await this.site.existingSecret()).get('COUNT') === count;
  }
}
