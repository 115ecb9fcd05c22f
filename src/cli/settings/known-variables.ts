import { OwnMap } from './own-map.ts';

// As many as an environment can have at once, and as many again that it had before.
const maxNames = 20_000;
const maxEnvironments = 500;

/** An environment of a server. */
export interface KnownPlace {
  readonly url: string;
  /** As users write it: `acme/shop/production`. */
  readonly place: string;
}

/**
 * The names of the variables of each environment that programs on this machine were given. It holds no value. The names
 * belong to the environment and not to a folder: a new, copied or renamed folder is no reason to trust new names.
 */
export class KnownVariables {
  readonly #names: OwnMap<readonly string[]>;

  constructor(path: string) {
    this.#names = new OwnMap({
      path,
      isValue: isNames,
      maxEntries: maxEnvironments,
      name: 'a list of known variables',
      repair: 'Remove it. The next run then remembers the names again',
    });
  }

  /** Undefined if none is remembered yet. Throws CliError usage if the file is malformed. */
  namesOf(of: KnownPlace): ReadonlySet<string> | undefined {
    const names = this.#names.read().get(keyOf(of));
    return names === undefined ? undefined : new Set(names);
  }

  /**
   * Remembers these names besides those of before, and that the environment was used. Throws CliError usage if that cannot be
   * stored.
   */
  add(of: KnownPlace, names: readonly string[]): void {
    const key = keyOf(of);
    if (this.#isStored(key, names)) return;
    this.#names.set(key, (former = []) => [...new Set([...former, ...names])].slice(-maxNames));
  }

  /** Whether the file has the names, and drops many other environments before this one. Then it need not be written. */
  #isStored(key: string, names: readonly string[]): boolean {
    const entries = this.#names.read();
    const known = new Set(entries.get(key));
    const newest = [...entries.keys()].slice(-maxEnvironments / 2);
    return newest.includes(key) && names.every((name) => known.has(name));
  }
}

function keyOf({ url, place }: KnownPlace): string {
  return `${url} ${place}`;
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}
