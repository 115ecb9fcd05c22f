import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ClusterError } from './cluster-error.ts';

const limitMs = 180_000;

/** Runs a program to its end, within 3 minutes, and answers what it printed. Throws ClusterError with its complaint. */
export async function runTool(program: string, args: readonly string[]): Promise<string> {
  try {
    const options = { encoding: 'utf8', timeout: limitMs, maxBuffer: 2 ** 24 } as const;
    return (await promisify(execFile)(program, [...args], options)).stdout;
  } catch (error) {
    const { message, stderr } = error as Error & { stderr?: string };
    const said = stderr?.trim() === '' ? message : stderr;
    throw new ClusterError(`${program} ${args.join(' ')} failed: ${said?.trim() ?? message}`, { cause: error });
  }
}
