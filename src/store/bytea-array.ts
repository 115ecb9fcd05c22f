import { TimeSlice } from '../lib/time-slice.ts';

// Of PostgreSQL's catalogue: the same in each database.
const byteaOid = 17;
const headerBytes = 20;
const lengthBytes = 4;

/**
 * A `bytea[]` in PostgreSQL's binary format, built in time slices. The driver would write an array as one text of hex
 * digits, in one piece: twice as many bytes, and a turn of the event loop that grows with the change.
 */
export async function byteaArray(items: readonly (Uint8Array | null)[]): Promise<Buffer> {
  const slice = new TimeSlice();
  const total = items.reduce((sum, item) => sum + lengthBytes + (item?.length ?? 0), headerBytes);
  const array = Buffer.allocUnsafe(total);
  // One dimension that begins at 1; the second field says whether there are nulls.
  const header = [1, Number(items.includes(null)), byteaOid, items.length, 1];
  header.forEach((field, index) => array.writeInt32BE(field, index * lengthBytes));
  let at = headerBytes;
  for (const item of items) {
    if (slice.isOver) await slice.next();
    at = array.writeInt32BE(item?.length ?? -1, at);
    if (item === null) continue;
    array.set(item, at);
    at += item.length;
  }
  return array;
}
