import { expect, test } from '@jest/globals';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { type PlanInput, planWrite, type WantedChange } from '../../../src/services/secrets/secret-plan.ts';

/** What is planned for KEY, which is there, with a value that is the same already. */
function plannedFor(change: WantedChange): ReturnType<typeof planWrite> {
  const bytes = new Uint8Array(32);
  const secret = { secretId: 'secret', key: 'KEY', version: 1, isDeleted: false, valueMac: bytes, valueBytes: 4 };
  const input: PlanInput = {
    wanted: new Map([['KEY', change]]),
    stored: new Map([['KEY', secret]]),
    targets: new Map(),
    skipUnchanged: true,
    isUnchanged: () => true,
    seal: () => ({ ciphertext: bytes, dataKeyId: 'key', valueMac: bytes, valueBytes: 4 }),
    newSecretId: () => 'new',
    newVersionId: () => 'version',
  };
  return planWrite(input);
}

const value = new Plaintext('1234');

test('an equal value that was set is left out where that is wanted, one that was made up never', async () => {
  await expect(plannedFor({ kind: 'set', value })).resolves.toMatchObject({ changes: [], unchanged: ['KEY'] });
  await expect(plannedFor({ kind: 'set', value, isGenerated: true })).resolves.toMatchObject({
    changes: [{ key: 'KEY', version: 2 }],
    unchanged: [],
  });
});
