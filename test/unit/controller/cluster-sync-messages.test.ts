import { test } from '@jest/globals';
import * as messages from '../../../src/controller/kinds/cluster-secret-sync/messages.ts';
import { type Samples, expectGolden } from './golden-messages.ts';

const name = 'shared-web';
const digest = '0f'.repeat(16);

const samples: Samples<typeof messages> = {
  suspended: [messages.suspended],
  removalBlocked: [
    messages.removalBlocked({ name, lost: ['blue', 'green'], owned: 3, selected: 1, limit: '50%', digest }),
    messages.removalBlocked({ name, lost: ['blue', 'green'], owned: 2, selected: 0, limit: 5, digest }),
  ],
  removing: [messages.removing(2)],
  childrenRepaired: [messages.childrenRepaired(['green', 'blue']), messages.childrenRepaired(['blue'])],
  generating: [messages.generating(2, 12)],
  noneMatches: [messages.noneMatches],
  noneExists: [messages.noneExists],
  blocked: [
    messages.blocked({ name, selected: 12, conflicts: ['blue', 'green'], refused: ['red'] }),
    messages.blocked({ name, selected: 2, conflicts: ['blue'], refused: [] }),
    messages.blocked({ name, selected: 12, conflicts: [], refused: ['red'] }),
  ],
  notReady: [messages.notReady({ name, selected: 12, failing: ['blue', 'green'] })],
  syncing: [messages.syncing(3, 12)],
  synced: [messages.synced(1), messages.synced(12)],
  unwatched: [messages.unwatched(1), messages.unwatched(2)],
};

test('every message of a ClusterSecretSync is in its golden file', () => {
  expectGolden('cluster-secret-sync', [[messages, samples]]);
});
