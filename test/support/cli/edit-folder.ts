import { chmodSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CliFolder } from './cli-site.ts';
import type { CommandEnd, RunningCommand } from './running-command.ts';

/** Runs `keyframe edit` in a folder, with scripts of sh as editors, and finds the drafts that are kept. */
export class EditFolder {
  readonly cli: CliFolder;
  /** XDG_RUNTIME_DIR of the runs, which holds nothing but drafts. */
  readonly runtime: string;

  constructor(cli: CliFolder) {
    this.cli = cli;
    this.runtime = cli.pathOf('runtime');
    mkdirSync(this.runtime, { mode: 0o700 });
  }

  /** The variables for an editor that is this script. `$1` is the draft, and `$HERE` the folder of the runs. */
  editor(script: string): Record<string, string> {
    this.cli.write('editor.sh', `#!/bin/sh\nHERE='${this.cli.folder}'\n${script}\n`);
    chmodSync(this.cli.pathOf('editor.sh'), 0o755);
    return { XDG_RUNTIME_DIR: this.runtime, EDITOR: this.cli.pathOf('editor.sh') };
  }

  /** Runs `edit` with --yes. */
  async edit(script: string, ...args: readonly string[]): Promise<CommandEnd> {
    return await this.cli.run(['edit', '--yes', ...args], { env: this.editor(script) });
  }

  /** Starts `edit` at a terminal. */
  start(script: string, ...args: readonly string[]): RunningCommand {
    return this.cli.startOnTerminal(['edit', ...args], { env: this.editor(script) });
  }

  /** The names in the folder of drafts: one folder for each draft. */
  get kept(): string[] {
    return readdirSync(this.runtime);
  }

  /** The one draft that is kept. Throws unless the text of the command says where it is, and how to take it up again. */
  keptDraft(shown: string): string {
    const [folder = '', ...others] = this.kept;
    const file = readdirSync(join(this.runtime, folder)).find((name) => !name.startsWith('.')) ?? '';
    const path = join(this.runtime, folder, file);
    if (others.length > 0) throw new Error(`${others.length + 1} drafts are kept`);
    if (shown.includes(`is kept in ${path}; to take it up again: keyframe edit --draft ${path}`)) return path;
    throw new Error(`${path} is not named in:\n${shown}`);
  }

  /** The lines of a draft. */
  linesOf(path: string): string[] {
    return readFileSync(path, 'utf8').split('\n');
  }
}
