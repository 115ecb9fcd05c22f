import { Writable } from 'node:stream';
import { createInterface } from 'node:readline';
import { CliError } from '../core/cli-error.ts';
import { exitCodes } from '../core/exit-codes.ts';
import { shownText } from '../../wire/shown-text.ts';

/**
 * Asks for one line at the terminal; the question goes to standard error. Undefined if the input ends. Ctrl-C
 * throws CliError 130.
 */
export function askLine(question: string, { isHidden }: { readonly isHidden: boolean }): Promise<string | undefined> {
  // The line's editor echoes what is typed on its output: a hidden answer gets one that shows nothing.
  const output = isHidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr;
  const prompt = `${shownText(question)} `;
  const lines = createInterface({ input: process.stdin, output, terminal: true, prompt });
  // Only after the line editor has the terminal: what is typed before is read in another way.
  if (isHidden) process.stderr.write(prompt);
  else lines.prompt();
  return new Promise((resolve, reject) => {
    const end = (): void => {
      lines.close();
      if (isHidden) process.stderr.write('\n');
    };
    lines.once('line', (line) => {
      lines.removeAllListeners('close');
      end();
      resolve(line);
    });
    lines.once('SIGINT', () => {
      lines.removeAllListeners('close');
      end();
      process.stderr.write('\n');
      reject(new CliError(exitCodes.interrupted, 'interrupted'));
    });
    lines.once('close', () => {
      process.stderr.write('\n');
      resolve(undefined);
    });
  });
}
