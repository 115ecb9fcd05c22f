import { randomUUID } from 'node:crypto';
import { keyStoreContract } from '../../support/database/key-store-contract.ts';
import { MemoryKeyStore } from '../../support/database/memory-key-store.ts';

keyStoreContract(() =>
  Promise.resolve({ store: new MemoryKeyStore(), newProject: () => Promise.resolve(randomUUID()) }),
);
