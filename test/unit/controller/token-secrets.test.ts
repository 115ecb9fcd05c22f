import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ServiceToken } from '../../../src/controller/generated/service-token.ts';
import type { SecretFacts } from '../../../src/controller/kinds/service-token/judge.ts';
import { TokenSecrets } from '../../../src/controller/kinds/service-token/write.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { SecretsClient } from '../../../src/kube/client/secrets.ts';
import { type AnyObject, FakeCluster } from './fake-cluster.ts';

const collection = '/api/v1/namespaces/team-a/secrets';
const path = `${collection}/ci`;
const resource: ServiceToken = {
  apiVersion: 'keyframe.dev/v1alpha1',
  kind: 'ServiceToken',
  metadata: { name: 'ci', namespace: 'team-a', uid: 'uid-ci', resourceVersion: '1' },
  spec: { organization: 'acme', scope: 'Organization', permission: 'Read', suspend: false },
};
const token = new Plaintext('new');

let cluster: FakeCluster;
let secrets: TokenSecrets;

beforeEach(() => {
  cluster = new FakeCluster();
  secrets = new TokenSecrets({
    secretsClient: new SecretsClient({ client: cluster }),
    metrics: { secretWrite: () => {} },
  });
});

/** A token Secret with a value; written by another controller, if it is there already. */
function hold(value: string): AnyObject {
  return cluster.put(collection, 'ci', (secret) => {
    secret['type'] = 'Opaque';
    secret['data'] = { token: Buffer.from(value).toString('base64') };
    secret.metadata.annotations = { 'keyframe.dev/owned-by-token': 'ci' };
  });
}

function judged({ metadata }: AnyObject, isReplaceable = true): SecretFacts {
  const { uid, resourceVersion } = metadata;
  return { state: 'owned', uid, resourceVersion, serial: 1, metadataFits: false, isReplaceable };
}

function held(): string {
  const { token: value = '' } = (cluster.get(path)?.['data'] ?? {}) as Record<string, string>;
  return Buffer.from(value, 'base64').toString();
}

type Write = (facts: SecretFacts) => Promise<object | undefined>;

const writes: [string, Write, (secret: AnyObject) => SecretFacts][] = [
  ['replaced', (facts) => secrets.put(resource, facts, token, false), (secret) => judged(secret)],
  ['created again', (facts) => secrets.put(resource, facts, token, false), (secret) => judged(secret, false)],
  ['marked', (facts) => secrets.mark(resource, facts, false), (secret) => judged(secret)],
];

describe.each(writes)('a token Secret that is to be %s', (name, write, factsOf) => {
  test('is written at the version that was judged', async () => {
    expect(await write(factsOf(hold('old')))).toBeDefined();
    expect(held()).toBe(name === 'marked' ? 'old' : 'new');
    expect(cluster.get(path)?.metadata.labels).toEqual({ 'keyframe.dev/token': 'true' });
  });

  test('is left alone if another controller wrote it since it was judged', async () => {
    const facts = factsOf(hold('old'));
    hold('theirs');
    expect(await write(facts)).toBeUndefined();
    expect(held()).toBe('theirs');
  });

  test('is left alone if another controller writes it between the look and the write', async () => {
    const facts = factsOf(hold('old'));
    cluster.before(/^(?:PUT|DELETE) /, () => void hold('theirs'));
    expect(await write(facts)).toBeUndefined();
    expect(held()).toBe('theirs');
  });
});

test('a Secret that appeared since its absence was judged is left alone', async () => {
  hold('theirs');
  expect(await secrets.put(resource, { state: 'absent' }, token, false)).toBeUndefined();
  expect(held()).toBe('theirs');
});
