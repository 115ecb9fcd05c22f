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

describe('references of other tools in a template', () => {
  const notes = (): string[] => harness.cluster.events.map(({ reason, note }) => `${String(reason)}: ${String(note)}`);
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
