import { randomUUID } from 'node:crypto';
import { keyStoreContract } from '../../support/key-store-contract.ts';
import { MemoryKeyStore } from '../../support/memory-key-store.ts';

keyStoreContract(() =>
  Promise.resolve({ store: new MemoryKeyStore(), newProject: () => Promise.resolve(randomUUID()) }),
);
