import { openSync, readSync } from 'node:fs';

// Loaded into a process before its program: its wall clock is then ahead by the milliseconds that a file holds, at each look.
const file = openSync(process.env['MOVED_CLOCK_FILE'] ?? '', 'r');
const offset = Buffer.alloc(8);
const realNow = Date.now;

Date.now = () => {
  readSync(file, offset, 0, 8, 0);
  return realNow() + offset.readDoubleBE();
};
