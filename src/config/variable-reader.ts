import type { z } from 'zod';
import { errorFields } from '../observability/logger.ts';
import type { RoleName } from './role-names.ts';
import { ConfigError, type ConfigSource } from './source.ts';
import { unknownNameFaults } from './unknown-names.ts';
import type { Variable } from './variable.ts';
import { type VariableName, prefix, variableNames, variableOf, type variables } from './variables.ts';

type Table = typeof variables;

type ValueOf<V extends Variable> = V extends { readonly required: true } | { readonly default: string }
  ? z.output<V['schema']>
  : z.output<V['schema']> | undefined;

/** The values of the variables that a role reads. */
export type Values<R extends RoleName> = {
  readonly [N in VariableName as R extends Table[N]['roles'][number] ? N : never]: ValueOf<Table[N]>;
};

// Kubernetes gives a pod such variables for each Service of its namespace, and the server's is likely called keyframe.
const serviceLink = /^(?:tcp|udp|sctp):\/\//;

/**
 * Reads the variables of one role, and collects every fault: unknown names, invalid values, and what `fault` adds. No
 * fault repeats what a variable or a file holds.
 */
export class VariableReader<R extends RoleName> {
  /** What could be read so far, for checks of several variables. */
  readonly values: Partial<Values<R>>;
  readonly #role: R;
  readonly #source: ConfigSource;
  readonly #faults: string[];

  constructor(role: R, source: ConfigSource) {
    this.#role = role;
    this.#source = source;
    this.#faults = unknownNameFaults(source.env);
    const names = variableNames.filter((name) => variableOf(name).roles.includes(role));
    this.values = Object.fromEntries(names.map((name) => [name, this.#read(name)])) as Partial<Values<R>>;
  }

  /** Whether the variable, or its file, is given, valid or not. */
  isSet(name: VariableName): boolean {
    const isFileSet = variableOf(name).secret === true && this.#variable(`${name}_FILE`) !== undefined;
    return isFileSet || this.#variable(name) !== undefined;
  }

  /** Whether two variables that need each other are set; undefined, with a fault, if only one of them is. */
  isPairSet(name: VariableName, other: VariableName): boolean | undefined {
    const isSet = this.isSet(name);
    if (isSet === this.isSet(other)) return isSet;
    this.fault(name, `needs ${prefix}${other}, and the other way round: set both or neither`);
    return undefined;
  }

  fault(name: string, message: string): void {
    this.#faults.push(`${prefix}${name}: ${message}`);
  }

  /** @throws ConfigError with every fault. */
  complete(): Values<R> {
    if (this.#faults.length > 0) throw new ConfigError(this.#faults);
    // Without a fault every value is there.
    return this.values as unknown as Values<R>;
  }

  #read(name: VariableName): unknown {
    if (!this.isSet(name)) return this.#unset(name);
    const { schema, secret, readableFile } = variableOf(name);
    const text = secret ? this.#secretText(name) : this.#text(name);
    if (text === undefined) return undefined;
    if (readableFile && this.#fileText(name, text) === undefined) return undefined;
    const { data, error } = schema.safeParse(text);
    if (error !== undefined) this.fault(name, error.issues[0]?.message ?? 'is invalid');
    return data;
  }

  #unset(name: VariableName): unknown {
    const { schema, required, unless, default: text, secret } = variableOf(name);
    if (required && !this.#isReplacedBy(unless))
      this.fault(name, `is required${secret ? ` (or ${prefix}${name}_FILE)` : ''}`);
    return text === undefined ? undefined : schema.parse(text);
  }

  #isReplacedBy(name: string | undefined): boolean {
    const other = variableNames.find((known) => known === name);
    return other !== undefined && variableOf(other).roles.includes(this.#role) && this.isSet(other);
  }

  #variable(name: string): string | undefined {
    return this.#source.env[prefix + name];
  }

  /** The text of a variable. An empty one is refused, because it is more often a failed substitution than intended. */
  #text(name: string): string | undefined {
    const text = this.#variable(name)?.trim();
    if (text === undefined) return undefined;
    if (text === '') this.fault(name, 'is empty; give it a value or unset it');
    else if (serviceLink.test(text)) {
      this.fault(
        name,
        'holds a service link of Kubernetes; set enableServiceLinks: false in the pod, or give it a value',
      );
    } else return text;
    return undefined;
  }

  /** The text of a secret, from its variable or its file. */
  #secretText(name: VariableName): string | undefined {
    const file = `${name}_FILE`;
    if (this.#variable(file) === undefined) return this.#text(name);
    if (this.#variable(name) !== undefined) {
      this.fault(name, `is set and so is ${prefix}${file}; keep one of them`);
      return undefined;
    }
    const path = this.#text(file);
    return path === undefined ? undefined : this.#fileText(file, path);
  }

  #fileText(name: string, path: string): string | undefined {
    try {
      const text = this.#source.readTextFile(path).trim();
      if (text !== '') return text;
      this.fault(name, 'names an empty file');
    } catch (error) {
      this.fault(name, `names a file that cannot be read (${String(errorFields(error)['code'])})`);
    }
    return undefined;
  }
}
