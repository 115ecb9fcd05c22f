import { expect } from '@jest/globals';
import { secretSync } from './builders.ts';
import { prod, secrets, syncs } from './controller-harness.ts';
import { settled } from './fake-clock.ts';
import { serviceToken } from './fake-services.ts';
import { TokenHarness } from './token-harness.ts';

export const staging = 'acme/web/staging';
const harnesses: TokenHarness[] = [];

/** Stops the controllers of all harnesses of a test. */
export async function stopHarnesses(): Promise<void> {
  for (const harness of harnesses.splice(0)) await harness.controller.stop();
}

export interface Claimant {
  readonly name: string;
  readonly environment: 'prod' | 'staging';
  /** The second of its creation. */
  readonly second: number;
  readonly creationPolicy?: 'Create' | 'Merge';
}

/** Several resources that name the Secret `shared`, each with another environment behind it. */
export class ClaimsHarness extends TokenHarness {
  /** A controller that has not started, or starts again beside what another one left. */
  static create(before?: ClaimsHarness): ClaimsHarness {
    const harness = new ClaimsHarness(before);
    harnesses.push(harness);
    if (before !== undefined) return harness;
    harness.services.create(prod, 'env-prod', { FROM: 'prod' });
    harness.services.create(staging, 'env-staging', { FROM: 'staging' });
    harness.services.tokens.set('kf_svc_good', serviceToken('good'));
    harness.putToken('kf_svc_good');
    return harness;
  }

  claim({ name, environment, second, creationPolicy = 'Create' }: Claimant): void {
    const { spec } = secretSync({
      name,
      target: { name: 'shared', creationPolicy },
      spec: { environmentRef: { organization: 'acme', project: 'web', name: environment } },
    });
    this.cluster.put(syncs, name, (object) => {
      object.metadata.creationTimestamp = `2026-01-01T00:00:0${second}Z`;
      object['spec'] = spec;
    });
  }

  /** Deletes the Secret and lets everything happen that follows. */
  async loseSecret(): Promise<void> {
    this.cluster.remove(`${secrets}/shared`);
    await this.rest();
  }

  async rest(): Promise<void> {
    await settled();
    await this.clock.advance(1_000);
  }

  /** Which environment the Secret has its values of; undefined without a Secret. */
  get from(): string | undefined {
    return this.values('shared')?.['FROM'];
  }

  reason(name: string): string | undefined {
    return this.ready(name)?.reason;
  }
}

export const older: Claimant = { name: 'older', environment: 'prod', second: 1 };
export const younger: Claimant = { name: 'younger', environment: 'staging', second: 2 };

/** Expects that one SecretSync has the Secret, and that another one waits and names it. */
export function expectOwner(harness: ClaimsHarness, owner: Claimant, other: Claimant): void {
  expect(harness.from).toBe(owner.environment);
  expect(harness.reason(owner.name)).toBe('Synced');
  expect(harness.ready(other.name)).toMatchObject({
    reason: 'TargetClaimed',
    message: expect.stringContaining(`belongs to the SecretSync ${owner.name}:`),
  });
  expect(harness.status(other.name)).not.toHaveProperty('target');
}
