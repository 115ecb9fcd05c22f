import { seal } from '../../../src/crypto/aead.ts';

// A fresh process that seals values under a fixed key, and prints the nonces as JSON.
const nonces = Array.from({ length: 64 }, () =>
  Buffer.from(seal(Buffer.alloc(32, 1), Buffer.from('value'), Buffer.from('place')).subarray(1, 13)).toString('hex'),
);
console.log(JSON.stringify(nonces));
