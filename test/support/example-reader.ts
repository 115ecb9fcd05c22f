import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBinaries } from '../../scripts/cluster/build.ts';
import type { Cluster } from '../../scripts/cluster/cluster.ts';
import type { CliRunner } from './cli.ts';
import { exampleSections, examplesFolder, opening, printedLines } from './example-page.ts';
import { npmStandIn } from './npm-stand-in.ts';
import type { CommandEnd } from './running-command.ts';
import type { Stack } from './stack.ts';

export interface ExampleReaderDeps {
  /** Its folder stands for the checkout's. */
  readonly cli: CliRunner;
  readonly cluster: Pick<Cluster, 'kubeconfig' | 'runFolder'>;
  readonly stack: Pick<Stack, 'api' | 'adminToken'>;
}

/** Somebody who follows examples/README.md with a cluster and a server of a test. */
export class ExampleReader {
  readonly #deps: ExampleReaderDeps;
  readonly #kubectl: string;
  readonly #sections = exampleSections();
  readonly #tried = new Set<string>();

  private constructor(deps: ExampleReaderDeps, kubectl: string) {
    this.#deps = deps;
    this.#kubectl = kubectl;
  }

  /** Gets the examples and the administrator's token, and does what the page says is to be done before. */
  static async create(deps: ExampleReaderDeps): Promise<ExampleReader> {
    const { kubectl } = await ensureBinaries(['kubectl'], { env: process.env, output: process.stderr });
    const { folder } = deps.cli;
    cpSync(examplesFolder, join(folder, 'examples'), { recursive: true });
    mkdirSync(join(folder, '.dev'));
    writeFileSync(join(folder, '.dev', 'admin-token'), deps.stack.adminToken, { mode: 0o600 });
    const reader = new ExampleReader(deps, kubectl);
    for (const number of (reader.#sections.get(opening) ?? []).keys()) await reader.step(opening, number + 1);
    return reader;
  }

  /** The command blocks of these sections, and of the opening one, that were not run so far, as `heading, number`. */
  untried(headings: readonly string[]): string[] {
    const all = [opening, ...headings].flatMap((heading) =>
      (this.#sections.get(heading) ?? []).map((_, index) => blockName(heading, index + 1)),
    );
    return all.filter((name) => !this.#tried.has(name));
  }

  /** Runs commands with the functions of the page; `kubeconfig` is the administrator's unless told. */
  async attempt(command: string, kubeconfig = this.#deps.cluster.kubeconfig): Promise<CommandEnd> {
    const { cli, cluster, stack } = this.#deps;
    const functions = this.#sections.get(opening)?.[0]?.command ?? '';
    const script = [npmStandIn, functions, 'set -eu', command].join('\n');
    const env = {
      KUBECTL: this.#kubectl,
      ADMIN_KUBECONFIG: kubeconfig,
      KUBECACHEDIR: join(cluster.runFolder, 'kubectl-cache'),
    };
    return await cli.bash(script.replaceAll('http://127.0.0.1:8700', stack.api.url), { env, limitMs: 80_000 });
  }

  /** The same for what must succeed; answers what it printed. */
  async run(command: string): Promise<string> {
    const { code, stdout, stderr } = await this.attempt(command);
    if (code !== 0) throw new Error(`${command}\nended with ${code}: ${stderr}\n${stdout}`);
    return stdout;
  }

  /** Runs the nth command block of a section, counted from 1; each line that the page shows of its output must be there. */
  async step(heading: string, number: number): Promise<string> {
    const documented = this.#sections.get(heading)?.[number - 1];
    if (documented === undefined) throw new Error(`examples/README.md has no step ${number} under «${heading}».`);
    const printed = await this.run(documented.command);
    const shown = printedLines(documented.answer?.text ?? '');
    const lines = printedLines(printed);
    const missing = shown.filter((line) => !lines.includes(line));
    // All that was printed: Jest would cut it short.
    if (missing.length > 0) throw new Error(`Not printed:\n${missing.join('\n')}\nbut:\n${lines.join('\n')}`);
    this.#tried.add(blockName(heading, number));
    return printed;
  }
}

function blockName(heading: string, number: number): string {
  return `${heading}, ${number}`;
}
