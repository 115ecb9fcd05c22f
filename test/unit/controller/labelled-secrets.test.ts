import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { watchLabelledSecrets } from '../../../src/controller/frame/labelled-secrets.ts';
import { Namespaces } from '../../../src/controller/frame/namespaces.ts';
import type { KubeObject } from '../../../src/kube/client/objects.ts';
import type { ReflectorGroup } from '../../../src/kube/informer/reflector-group.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { ScriptedApi, list, object, watch } from '../kube/scripted-api.ts';
import { kindContext } from './kind-context.ts';

let api: ScriptedApi;
let secrets: ReflectorGroup<KubeObject>;

beforeEach(async () => {
  api = await ScriptedApi.start();
  const kube = api.client();
  const parts = { clock: systemClock, logger: createLogger('silent'), onRecovered: () => {} };
  const context = kindContext({ ...parts, kube, namespaces: new Namespaces({ ...parts, client: kube }) });
  secrets = watchLabelledSecrets(context, 'keyframe.dev/target', { onUpsert: () => {}, onDelete: () => {} });
});

afterEach(async () => {
  await secrets.stop();
  await api.stop();
});

test('Secrets are listed and watched by our label, and the API server is asked for no value', async () => {
  api.onList(list('7', [object('app', '5')]));
  api.onWatch(watch());
  secrets.start();
  await waitFor('the watch', () => api.watches.length === 1);
  expect(api.requests).toHaveLength(2);
  for (const { path, query, accept } of api.requests) {
    expect(path).toBe('/api/v1/secrets');
    expect(query.get('labelSelector')).toBe('keyframe.dev/target=true');
    expect(accept).toMatch(/^application\/json;as=PartialObjectMetadata(?:List)?;g=meta\.k8s\.io;v=v1$/);
  }
});
