import type { RoleName } from '../config/role-names.ts';
import type { ConfigSource } from '../config/source.ts';
import type { LogLevel, Logger } from '../observability/logger.ts';

/** An option of a role on the command line. */
export interface RoleOption {
  /** As in the help, such as `--admin EMAIL`. */
  readonly usage: string;
  /** One line for each string. */
  readonly description: readonly string[];
}

/** A role of the program. The variables that it reads are those of the table in src/config/variables.ts with its name. */
export interface Role<Config extends { readonly logLevel: LogLevel } = { readonly logLevel: LogLevel }> {
  readonly name: RoleName;
  /** For the help: one line for each string. */
  readonly summary: readonly string[];
  /** Only a role with options takes arguments. */
  readonly options?: readonly RoleOption[];
  /** Reads the arguments and the variables. Throws ConfigError with every fault, and ExitError. */
  load(args: readonly string[], source?: ConfigSource): Config;
  /** Does the work of a task; a role that serves returns as soon as it has started. */
  run(config: Config, logger: Logger): Promise<void>;
}
