import { describe, expect, test } from '@jest/globals';
import { type Facts, type Step, judge } from '../../../src/controller/kinds/service-token/judge.ts';
import type { ResourceCredential } from '../../../src/domain/resources/tokens.ts';
import { tokenWith } from '../../support/fixtures/token-facts.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const rotation = { intervalMs: 24 * hourMs, overlapMs: 10 * minuteMs, maxOverlapMs: hourMs };

/** A ServiceToken with its database and its Secret, on which the steps of the judgement are carried out. */
class Site {
  now = Date.UTC(2030, 0, 1);
  held: number | undefined;
  credentials: ResourceCredential[] = [];
  readonly steps: string[] = [];

  /** What a reader of the Secret holds works. */
  get works(): boolean {
    const held = this.credentials.find(({ serial }) => serial === this.held);
    return held?.state === 'active' && held.revokedAt === null;
  }

  get live(): number[] {
    return this.credentials
      .filter(({ state, revokedAt }) => state === 'active' && revokedAt === null)
      .map(({ serial }) => serial);
  }

  judge(): Step {
    const facts: Facts = {
      now: this.now,
      times: { lifeMs: undefined, rotation },
      permission: 'read',
      isSamePlace: true,
      secret:
        this.held === undefined
          ? { state: 'absent' }
          : {
              state: 'owned',
              uid: 'secret',
              resourceVersion: '1',
              serial: this.held,
              metadataFits: true,
              isReplaceable: true,
            },
      token: this.credentials.length === 0 ? undefined : tokenWith(this.credentials),
    };
    return judge(facts);
  }

  /** Carries out one step; returns false at rest. A crash after minting leaves the value out of the Secret. */
  step({ crashesAfterMint = false } = {}): boolean {
    const step = this.judge();
    this.steps.push('serial' in step ? `${step.do} ${step.serial}` : step.do);
    if (step.do === 'mint') {
      const others = this.credentials.filter(({ serial }) => serial !== step.serial);
      const unused = {
        revokedAt: null,
        firstUsedAt: null,
        lastUsedAt: null,
        expiresAt: step.expiresAt,
        audience: null,
      };
      const createdAt = new Date(this.now);
      this.credentials = [...others, { serial: step.serial, state: 'pending', createdAt, ...unused }];
      if (!crashesAfterMint) this.held = step.serial;
    } else if (step.do === 'activate') this.#change(step.serial, { state: 'active' });
    else if (step.do === 'revoke') this.#change(step.serial, { revokedAt: new Date(this.now) });
    else if (step.do !== 'rest') throw new Error(`unexpected step: ${step.do}`);
    return step.do !== 'rest';
  }

  settle(): void {
    for (let count = 0; this.step(); count += 1) if (count > 10) throw new Error(`no rest: ${this.steps.join(', ')}`);
  }

  #change(serial: number, more: Partial<ResourceCredential>): void {
    this.credentials = this.credentials.map((each) => (each.serial === serial ? { ...each, ...more } : each));
  }
}

function issued(): Site {
  const site = new Site();
  site.settle();
  site.steps.splice(0);
  return site;
}

describe('a rotation', () => {
  test('makes, delivers and activates the next value before the one before is revoked', () => {
    const site = issued();
    expect([site.held, site.live]).toEqual([1, [1]]);
    site.now += rotation.intervalMs;
    const oldWorked: boolean[] = [];
    while (site.held === 1 || !site.works) {
      site.step();
      oldWorked.push(site.live.includes(1));
    }
    // A reader that has not noticed the new value yet goes on with the old one.
    expect(oldWorked).not.toContain(false);
    site.settle();
    expect(site.steps).toEqual(['mint 2', 'activate 2', 'rest']);
    expect(site.live).toEqual([1, 2]);
    site.now += rotation.overlapMs;
    site.settle();
    expect(site.live).toEqual([2]);
    expect(site.steps.slice(3)).toEqual(['revoke 1', 'rest']);
  });

  test('that crashes after minting revokes nothing that the Secret holds, and goes on with the same serial', () => {
    const site = issued();
    site.now += rotation.intervalMs;
    site.step({ crashesAfterMint: true });
    expect([site.held, site.works]).toEqual([1, true]);
    site.settle();
    expect(site.steps).toEqual(['mint 2', 'mint 2', 'activate 2', 'rest']);
    expect([site.held, site.live]).toEqual([2, [1, 2]]);
  });

  test('keeps a value that works in the Secret at each rest, for many rotations', () => {
    const site = issued();
    for (let count = 0; count < 20; count += 1) {
      site.now += rotation.intervalMs / 4;
      site.settle();
      expect(site.works).toBe(true);
    }
    expect(site.held).toBe(6);
  });
});
