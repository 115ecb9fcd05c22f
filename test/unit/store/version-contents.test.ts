import { expect, test } from '@jest/globals';
import { referencesMigration } from '../../../src/store/version-contents.ts';
import { migrationNames } from '../../support/database/own-migrations.ts';

test('the migration that permits references exists, and waits until an upgrade is finished', async () => {
  expect(await migrationNames()).toContain(referencesMigration);
  expect(referencesMigration).toMatch(/_finish_since_0_2_0$/);
});
