import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { connectLocally } from '../../../src/compose/local-backend.ts';
import { Seen } from '../../../src/controller/frame/dependencies.ts';
import type { ReconcileContext } from '../../../src/controller/frame/kind-rules.ts';
import type { ServiceToken } from '../../../src/controller/generated/service-token.ts';
import { TokenStates } from '../../../src/controller/kinds/service-token/state.ts';
import { ServiceTokenReconciler } from '../../../src/controller/kinds/service-token/reconcile.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { TokenResource, ruleFor } from '../../support/api/token-resource.ts';
import { withWorlds } from '../../support/api/with-services.ts';

let services: TestServices;
let world: World;
let own: TokenResource;

withWorlds((given) => ({ services, world } = given));

beforeEach(() => {
  own = new TokenResource(services, world);
});

/** The controller's reconciler over the real services. Without a grant it must not touch the Secret. */
function reconciler(): ServiceTokenReconciler {
  const untouched = (): never => {
    throw new Error('the Secret was touched');
  };
  return new ServiceTokenReconciler({
    backend: connectLocally(services)(() => own.caller.principal.cluster),
    grants: { rulesFor: () => own.grants, ownGrantOf: () => undefined },
    states: new TokenStates(),
    secrets: { put: untouched, mark: untouched } as never,
    secretsClient: { find: untouched },
    claims: { rivalOf: untouched, ownerClaim: untouched },
    watchedSecret: untouched,
    onUnmanaged: untouched,
    onRepaired: () => {},
    warn: untouched,
    serverNow: () => systemClock.now(),
  });
}

function context(): ReconcileContext<ServiceToken> {
  const { id: uid, namespace } = own.caller.principal;
  const { organization, project, environment: name } = world.slugs;
  const resource: ServiceToken = {
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'ServiceToken',
    metadata: { namespace: namespace ?? '', name: 'ci', uid, resourceVersion: '1' },
    spec: {
      scope: 'Environment',
      environmentRef: { organization, project, name },
      permission: 'ReadWrite',
      suspend: false,
    },
  };
  return { key: `${namespace ?? ''}/ci`, resource, requestId: randomUUID(), seen: new Seen(), isForced: false };
}

async function opens(token: { reveal(): string }): Promise<string> {
  return services.authentication.authenticate(token.reveal()).then(
    () => 'opens',
    ({ fault }: { fault: string }) => fault,
  );
}

describe('a ServiceToken whose grant is gone', () => {
  test('has its token suspended by the very next reconcile', async () => {
    const { token } = await own.minted({ permission: 'read_write' });
    expect(await opens(token)).toBe('opens');
    own.grants = [];
    const outcome = await reconciler().reconcile(context());
    expect(await opens(token)).toBe('suspended');
    expect(outcome.claim).toMatchObject({ reason: expect.stringMatching(/Denied/) });
  });

  test('has its token suspended although it is suspended itself', async () => {
    const { token } = await own.minted({ permission: 'read_write' });
    own.grants = [];
    await reconciler().whileSuspended(context());
    expect(await opens(token)).toBe('suspended');
  });

  test('has its token suspended if only another permission or environment is granted', async () => {
    const { token } = await own.minted({ permission: 'read_write' });
    own.grants = [ruleFor(world, { permission: 'read' }), ruleFor(world, { environments: ['another'] })];
    await reconciler().reconcile(context());
    expect(await opens(token)).toBe('suspended');
  });
});
