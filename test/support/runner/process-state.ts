type Owner = typeof globalThis | NodeJS.Process;

/** What a test file may change in its process, as it was when this was made. */
export class ProcessState {
  readonly #variables = { ...process.env };
  readonly #directory = process.cwd();
  readonly #exitCode = process.exitCode;
  readonly #listeners = new Map(process.eventNames().map((name) => [name, process.rawListeners(name)]));
  readonly #globals = propertiesOf(globalThis);
  readonly #process = propertiesOf(process);

  restore(): void {
    restoreProperties(globalThis, this.#globals);
    restoreProperties(process, this.#process);
    this.#restoreListeners();
    for (const name of Object.keys(process.env)) if (!(name in this.#variables)) delete process.env[name];
    Object.assign(process.env, this.#variables);
    if (process.cwd() !== this.#directory) process.chdir(this.#directory);
    process.exitCode = this.#exitCode;
  }

  #restoreListeners(): void {
    for (const name of new Set([...this.#listeners.keys(), ...process.eventNames()])) {
      const before = this.#listeners.get(name) ?? [];
      const now = process.rawListeners(name);
      for (const listener of now) if (!before.includes(listener)) process.off(name, listener as () => void);
      for (const listener of before) if (!now.includes(listener)) process.on(name, listener as () => void);
    }
  }
}

type Properties = ReadonlyMap<PropertyKey, PropertyDescriptor>;

// Those that begin with `_` are private to Node.
function propertiesOf(owner: Owner): Properties {
  const keys = Reflect.ownKeys(owner).filter((key) => typeof key !== 'string' || !key.startsWith('_'));
  return new Map(keys.map((key) => [key, Object.getOwnPropertyDescriptor(owner, key) ?? {}]));
}

/** What was added stays: most of it is of packages that were loaded, and they load only once. */
function restoreProperties(owner: Owner, before: Properties): void {
  for (const [key, descriptor] of before) {
    const now = Object.getOwnPropertyDescriptor(owner, key);
    if (now === undefined || !isSame(now, descriptor)) Object.defineProperty(owner, key, descriptor);
  }
}

function isSame(one: PropertyDescriptor, other: PropertyDescriptor): boolean {
  return one.value === other.value && one.get === other.get && one.set === other.set;
}
