import type { CommandDefinition } from './command.ts';

/** A command whose module is not loaded yet. */
export interface CommandEntry {
  readonly name: string;
  load(): Promise<CommandDefinition>;
}

export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly CommandEntry[];
}

export interface CommandSection {
  readonly title: string;
  readonly entries: readonly (CommandEntry | CommandGroup)[];
}
