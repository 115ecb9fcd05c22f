import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { Plaintext } from '../../../src/domain/plaintext.ts';
import type { CreateServiceTokenInput } from '../../../src/services/tokens/service-tokens.ts';
import { createWorld, type TestServices, type TestToken, type World } from '../../support/api/services.ts';
import { levels, TenantCalls } from '../../support/api/tenant-calls.ts';
import { TokenResource } from '../../support/api/token-resource.ts';
import { withServices } from '../../support/api/with-services.ts';
import { expectInLanes } from '../../support/fixtures/property-lanes.ts';

const scale =
  process.env['KEYFRAME_TEST_SCALE'] === 'full' ? { runs: 500, limitMs: 1_200_000 } : { runs: 15, limitMs: 900_000 };

let services: TestServices;

withServices((given) => ({ services } = given), { poolSize: 20 });

const level = fc.constantFrom(...levels);
const anySteps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), level }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('undelete' as const), level }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('create' as const), level }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('rotate' as const),
        which: fc.nat(9),
        overlapSeconds: fc.constantFrom(0, 3600),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke' as const), which: fc.nat(9) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('mint' as const) }) },
  ),
  { minLength: 6, maxLength: 20 },
);
type Step = typeof anySteps extends fc.Arbitrary<(infer S)[]> ? S : never;

/** Deletes and undeletes a world's organization, project and environment, and keeps every secret string that was made. */
class StringHistory {
  readonly #world: World;
  readonly #tenants: TenantCalls;
  readonly #resource: TokenResource;
  readonly #made: TestToken[] = [];
  readonly #strings: { readonly value: Plaintext; wasInvalid: boolean }[] = [];
  #serial = 0;

  constructor(world: World) {
    this.#world = world;
    this.#tenants = new TenantCalls(services, world);
    this.#resource = new TokenResource(services, world);
  }

  /** Takes a step, unless it is refused because of what is deleted. */
  async take(step: Step): Promise<void> {
    try {
      await this.#take(step);
    } catch (error) {
      // A token for something deleted is refused as invalid.
      const refusals = ['not_found', 'conflict', 'invalid_input'];
      if (!(error instanceof DomainError && refusals.includes(error.code))) throw error;
    }
  }

  async #take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'remove':
        return this.#tenants.remove(step.level);
      case 'undelete':
        return void (await this.#tenants.undelete(step.level));
      case 'create':
        return this.#create(this.#scopeOf(step.level));
      case 'rotate':
        return this.#rotate(step.which, step.overlapSeconds);
      case 'revoke':
        return this.#revoke(step.which);
      default:
        this.#serial += 1;
        return this.#keep((await this.#resource.minted({ serial: this.#serial })).token);
    }
  }

  async #create(scope: Partial<CreateServiceTokenInput>): Promise<void> {
    const made = await this.#world.serviceToken(scope);
    this.#made.push(made);
    this.#keep(made.token);
  }

  async #rotate(which: number, overlapSeconds: number): Promise<void> {
    const made = this.#made[which % this.#made.length];
    if (made === undefined) return;
    const access = await this.#world.onOrganization(this.#world.owner.caller, 'service_token.rotate');
    this.#keep((await services.serviceTokens.rotate(access, made.id, { overlapSeconds })).token);
  }

  async #revoke(which: number): Promise<void> {
    const made = this.#made[which % this.#made.length];
    if (made === undefined) return;
    const access = await this.#world.onOrganization(this.#world.owner.caller, 'service_token.revoke');
    await services.serviceTokens.revoke(access, made.id);
  }

  #keep(value: Plaintext): void {
    this.#strings.push({ value, wasInvalid: false });
  }

  #scopeOf(of: (typeof levels)[number]): Partial<CreateServiceTokenInput> {
    if (of === 'environment') return {};
    return of === 'organization' ? { scope: of } : { scope: of, projectId: this.#world.project.id };
  }

  /** How many strings that were refused after an earlier step are accepted now. */
  async countReturned(): Promise<number> {
    let returned = 0;
    for (const one of this.#strings) {
      const isValid = await services.authentication.authenticate(one.value.reveal()).then(
        () => true,
        () => false,
      );
      returned += Number(isValid && one.wasInvalid);
      one.wasInvalid ||= !isValid;
    }
    return returned;
  }
}

test('a string that became invalid stays invalid, whatever is deleted and undeleted, in whatever order', async () => {
  const property = (): fc.IAsyncPropertyWithHooks<[Step[]]> =>
    fc.asyncProperty(anySteps, async (steps) => {
      const history = new StringHistory(await createWorld(services));
      for (const step of steps) {
        await history.take(step);
        expect(await history.countReturned()).toBe(0);
      }
    });
  await expectInLanes(property, scale);
}, 1_260_000);
