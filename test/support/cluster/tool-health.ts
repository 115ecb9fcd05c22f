import { execFile } from 'node:child_process';
import { parse } from 'yaml';
import { ensureBinaries } from '../../../tools/devcluster/cluster/build.ts';
import { fencedBlocks, readPage } from '../fixtures/documentation.ts';

/** What a tool says of a resource. */
export interface Health {
  readonly status: string;
  readonly message: string;
}

export interface Verdicts {
  /** As Flux reads it with `wait: true`, and every other user of kstatus. */
  readonly kstatus: Health;
  readonly argo: Health;
}

/** What docs/gitops.md has put into Argo CD's settings, as text. */
export function documentedCustomizations(): string {
  const [settings] = fencedBlocks(readPage('docs/gitops.md'), 'yaml').filter(({ text }) =>
    text.includes('name: argocd-cm'),
  );
  const { data } = parse(settings?.text ?? '') as { data: Record<string, string> };
  return data['resource.customizations'] ?? '';
}

const maxOutputBytes = 64 * 1024 * 1024;

/** The code of Flux and Argo CD itself, with the settings of docs/gitops.md. */
export class ToolHealth {
  readonly #program: string;

  private constructor(program: string) {
    this.#program = program;
  }

  static async open(): Promise<ToolHealth> {
    const { health } = await ensureBinaries(['health'], { env: process.env, output: process.stderr });
    return new ToolHealth(health);
  }

  /** What the tools say of each object. Throws if a check fails. */
  async ofAll(objects: readonly object[]): Promise<readonly Verdicts[]> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const child = execFile(this.#program, { maxBuffer: maxOutputBytes }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`the health checks: ${stderr}`, { cause: error }));
    });
    child.stdin?.end(JSON.stringify({ customizations: documentedCustomizations(), objects }));
    return JSON.parse(await promise) as Verdicts[];
  }

  async of(object: object): Promise<Verdicts> {
    const [verdicts] = await this.ofAll([object]);
    if (verdicts === undefined) throw new Error('the health checks return a verdict for each object');
    return verdicts;
  }
}
