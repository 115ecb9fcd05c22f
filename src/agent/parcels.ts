import type { BodyLimits } from '../wire/contract/body-limits.ts';

/** An element of a list in a request, as JSON. */
export interface Parcel {
  readonly text: string;
  readonly bytes: number;
  /** Members of objects and elements of arrays, as the server counts them. */
  readonly entries: number;
}

export function parcelOf(json: unknown): Parcel {
  const text = JSON.stringify(json);
  return { text, bytes: Buffer.byteLength(text), entries: entriesOf(json) };
}

/** The room of one request. */
export class Room {
  // For what is around the lists.
  #bytes = 256;
  #entries = 16;
  readonly #limits: Omit<BodyLimits, 'advice'>;

  constructor(limits: Omit<BodyLimits, 'advice'>) {
    this.#limits = limits;
  }

  /** Takes room for all of these, or for none. */
  take(parcels: readonly Parcel[]): boolean {
    const bytes = parcels.reduce((sum, parcel) => sum + parcel.bytes + 1, this.#bytes);
    const entries = parcels.reduce((sum, parcel) => sum + parcel.entries + 1, this.#entries);
    if (bytes > this.#limits.maxBytes || entries > this.#limits.maxEntries) return false;
    this.#bytes = bytes;
    this.#entries = entries;
    return true;
  }
}

/** Divides lists of elements that go together over as few requests as have room. One that is too large goes alone. */
export function packed(groups: readonly (readonly Parcel[])[], limits: BodyLimits, maxGroups: number): Parcel[][] {
  const requests: Parcel[][] = [];
  let room = new Room(limits);
  let groupsIn = 0;
  for (const group of groups) {
    const last = requests.at(-1);
    if (last !== undefined && groupsIn < maxGroups && room.take(group)) {
      last.push(...group);
      groupsIn += 1;
      continue;
    }
    room = new Room(limits);
    room.take(group);
    groupsIn = 1;
    requests.push([...group]);
  }
  return requests;
}

function entriesOf(json: unknown): number {
  if (typeof json !== 'object' || json === null) return 0;
  const children = Object.values(json).filter((child) => child !== undefined);
  return children.reduce<number>((sum, child) => sum + entriesOf(child), Math.max(1, children.length));
}
