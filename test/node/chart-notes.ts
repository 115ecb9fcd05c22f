import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBinaries } from '../../tools/devcluster/cluster/build.ts';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import type { CliRunner } from '../support/cli/cli.ts';
import type { CommandEnd } from '../support/cli/running-command.ts';

// A reader looks whether the forward stands before they go on.
const untilForwarded = (port: number): string =>
  `until (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; do kill -0 %1; sleep 0.1; done`;

export interface NotesReaderOptions {
  readonly cli: CliRunner;
  /** Of which the reader is the administrator. */
  readonly cluster: Pick<Cluster, 'kubeconfig' | 'runFolder'>;
  /** Of this machine, in the place of 8700, which another process may have. */
  readonly port: number;
}

/** Runs the commands of NOTES.txt as they were printed, one after the other in one shell that ends at the first that fails. */
export async function followNotes(notes: string, { cli, cluster, port }: NotesReaderOptions): Promise<CommandEnd> {
  const commands = commandsIn(notes).map((command) => command.replace(/\b8700\b/, String(port)));
  const script = commands.flatMap((command) => (command.endsWith('&') ? [command, untilForwarded(port)] : [command]));
  return await runAsReader(["trap 'kill $(jobs -p)' EXIT", ...script].join('\n'), { cli, cluster });
}

/** Runs commands that a reader copies, with kubectl and helm on the path, in one shell that ends at the first that fails. */
export async function runAsReader(
  script: string,
  { cli, cluster }: Pick<NotesReaderOptions, 'cli' | 'cluster'>,
): Promise<CommandEnd> {
  const tools = join(cli.folder, 'tools');
  mkdirSync(tools, { recursive: true });
  const programs = await ensureBinaries(['kubectl', 'helm'], { env: process.env, output: process.stderr });
  for (const [name, program] of Object.entries(programs)) {
    if (!existsSync(join(tools, name))) symlinkSync(program, join(tools, name));
  }
  return await cli.bash(`set -euo pipefail; PATH=${tools}:$PATH\n${script}`, {
    env: { KUBECONFIG: cluster.kubeconfig, KUBECACHEDIR: join(cluster.runFolder, 'kubectl-cache') },
    limitMs: 150_000,
  });
}

/** The indented lines below «Next:», and what the sentence about helm's test names. */
export function commandsIn(notes: string): string[] {
  const next = notes.slice(notes.indexOf('\nNext:\n'));
  return Array.from(next.matchAll(/^ {2}(?<line>\S.*)$|: (?<test>helm test .*)$/gm), ({ groups = {} }) =>
    String(groups['line'] ?? groups['test']),
  );
}
