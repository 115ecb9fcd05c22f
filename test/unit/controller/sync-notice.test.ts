import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { SecretSyncSpec } from '../../../src/controller/generated/secret-sync.ts';
import { Harness, prod } from './controller-harness.ts';

let harness: Harness;

beforeEach(() => {
  harness = new Harness();
});

afterEach(() => harness.controller.stop());

async function put(spec: Partial<SecretSyncSpec>): Promise<void> {
  harness.putSync({ spec });
  await harness.calls();
}

const notes = (): string[] => harness.cluster.events.map(({ reason, note }) => `${String(reason)}: ${String(note)}`);

describe('rules for keys that no key of the environment matches', () => {
  const spec = { keys: { include: ['A', 'NOPE'], hidden: ['GONE_*'], rewrite: { stripPrefix: 'APP_' } } };
  const hint =
    'KeysMissing: spec.keys.include names keys that the environment does not have: NOPE. ' +
    'spec.keys.hidden names keys that the environment does not have: GONE_*. ' +
    'spec.keys.rewrite.stripPrefix names a beginning that no key of the environment has: APP_.';

  test('cause one Event, although the SecretSync is ready, and the status has the number of keys', async () => {
    await harness.synced({ spec });
    expect(notes()).toEqual([hint]);
    expect(harness.status()).toMatchObject({ secretCount: 1 });
    harness.services.change(prod, { A: 'new', B: 'b' });
    await harness.calls();
    expect(notes()).toEqual([hint]);
  });

  test('cause an Event if the environment loses the keys, at most one in ten minutes', async () => {
    await harness.synced({ spec: { keys: { include: ['A', 'C'] }, maxDeletedKeys: 10 } });
    harness.cluster.events.splice(0);
    await harness.clock.advance(600_000);
    for (const keys of [{ C: 'c' }, {}, { C: 'c' }, {}]) {
      harness.services.change(prod, { A: 'alpha', ...keys });
      await harness.calls();
    }
    expect(notes()).toEqual([expect.stringMatching(/^KeysMissing: spec\.keys\.include names keys .*: C\.$/)]);
    expect(harness.ready()?.message).toContain('does not have: C.');
  });
});

describe('references of other tools in a template', () => {
  const hint = 'BracesAreText: In spec.template.data, "{{" is text, not a reference (T). Refer to a key with $(KEY).';
  const spec = { template: { data: { T: '{{ .A }}' } } };

  test('cause one Event, of a new SecretSync and of one that was in step, also across restarts', async () => {
    await harness.synced({ spec });
    expect(notes()).toEqual([hint]);
    harness.services.change(prod, { A: 'new', B: 'b' });
    await harness.calls();
    await harness.controller.stop();
    harness = new Harness(harness);
    await harness.start();
    harness.services.change(prod, { A: 'newer', B: 'b' });
    await harness.calls();
    expect(notes()).toEqual([hint]);
    await put({ template: { data: { T: '$(A)' } } });
    expect(notes()).toEqual([hint]);
    await put(spec);
    expect(notes()).toEqual([hint, hint]);
  });

  test('cause no second Event if the one about Ready has the hint', async () => {
    await harness.synced({ spec: { keys: { decodeBase64: ['A'] } } });
    await put(spec);
    expect(notes()).toEqual([
      expect.stringMatching(/^NotBase64: /),
      expect.stringMatching(/^Synced: Secret app holds revision 1 with 3 keys\. .*"\{\{" is text/),
    ]);
  });
});
