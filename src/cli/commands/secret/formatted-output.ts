import type { CommandContext } from '../../core/command.ts';
import type { SecretTable } from '../../../wire/formats/secret-table.ts';
import { terminalText } from '../../terminal/terminal-text.ts';

/** Printing secrets in a format of docs/cli-files.md, for commands that read several of them. */

/** The format env has no quotes that every value fits and that shells read the same. */
export async function warnOfShells({ io }: CommandContext, secrets: SecretTable): Promise<void> {
  const { keysRunInShell } = await import('../../../wire/formats/dotenv.ts');
  const keys = keysRunInShell(secrets);
  if (keys.length === 0) return;
  io.note(
    `warning: a shell that loads this output can run a part of ${keys.join(', ')}. Do not source it; use --format shell for shells`,
  );
}

/** Prints the keys in place of their values, which a terminal shows only with --reveal. */
export function printHidden({ io }: CommandContext, keys: Iterable<string>, hint: string): void {
  io.write([...keys].map((key) => `${key}=(hidden)\n`).join(''));
  io.note(`Values are hidden on a terminal. ${hint}`);
}

/** Prints a text with values; on a terminal without characters that could move the cursor. */
export function printValues({ io }: CommandContext, written: string): void {
  io.write(io.isOutputTerminal ? terminalText(written) : written);
}
