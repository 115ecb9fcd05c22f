import { expect } from '@jest/globals';
import type { FleetConsumerView } from '../../../src/wire/consumers.ts';
import type { ApiClient } from '../api/api-client.ts';
import type { SyncSite } from './sync-site.ts';
import { waitFor } from '../fixtures/wait-for.ts';

/** The consumers of a site's environment, from the fleet, which has them also while it is deleted. */
export class SyncConsumers {
  readonly #admin: ApiClient;
  readonly #site: SyncSite;

  constructor(admin: ApiClient, site: SyncSite) {
    this.#admin = admin;
    this.#site = site;
  }

  async list(): Promise<FleetConsumerView[]> {
    const { organization } = this.#site.environment.ref;
    return (await this.#admin.call<{ consumers: FleetConsumerView[] }>('GET', `/fleet/${organization}`)).consumers;
  }

  /** Waits until there is this one consumer. */
  async waitForOne(expected: object): Promise<FleetConsumerView> {
    return await waitFor('the consumer to be reported', async () => {
      const [consumer, ...others] = await this.list();
      expect(others).toEqual([]);
      expect(consumer).toMatchObject(expected);
      return consumer;
    });
  }

  async waitForNone(): Promise<void> {
    await waitFor('the consumers to be dropped', async () => (await this.list()).length === 0);
  }
}
