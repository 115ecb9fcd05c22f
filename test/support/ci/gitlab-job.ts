import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { JobEnd, JobOptions } from './github-job.ts';

interface Job {
  readonly image: string;
  readonly id_tokens?: Readonly<Record<string, { readonly aud: string }>>;
  readonly variables?: Readonly<Record<string, string>>;
  readonly before_script?: readonly string[];
  readonly script: readonly string[];
}

export interface GitLabJobOptions extends Pick<JobOptions, 'variables' | 'prepare'> {
  /** The text of a pipeline with one job. */
  readonly pipeline: string;
  /** A JWT of GitLab with this audience. */
  readonly jwtFor: (audience: string) => string;
}

const keys = ['image', 'timeout', 'rules', 'id_tokens', 'variables', 'before_script', 'script'];

/**
 * Runs the job of a pipeline as a runner of GitLab does: each of its `id_tokens` is a variable with a JWT, and its lines run
 * in one shell until one fails. It throws for every key that it does not know.
 */
export async function runGitLabJob({ pipeline, jwtFor, variables, prepare }: GitLabJobOptions): Promise<JobEnd> {
  const [job, ...others] = Object.values(parse(pipeline) as Readonly<Record<string, Job>>);
  if (job === undefined || others.length > 0) throw new Error('a pipeline with one job is wanted');
  const unknown = Object.keys(job).filter((key) => !keys.includes(key));
  if (unknown.length > 0) throw new Error(`the keys ${unknown.join(', ')} are not known`);
  const cwd = mkdtempSync(join(tmpdir(), 'keyframe-job-'));
  try {
    prepare?.(cwd);
    const tokens = Object.entries(job.id_tokens ?? {}).map(([name, { aud }]) => [name, jwtFor(aud)] as const);
    const env = { PATH: process.env['PATH'], HOME: cwd, CI: 'true', GITLAB_CI: 'true', ...variables, ...job.variables };
    const script = ['set -eo pipefail', ...(job.before_script ?? []), ...job.script].join('\n');
    return await finish(spawn('bash', ['-c', script], { cwd, env: { ...env, ...Object.fromEntries(tokens) } }));
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

async function finish(child: ReturnType<typeof spawn>): Promise<JobEnd> {
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (part: string) => (log += part));
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject).once('close', (status) => resolve(status ?? 1));
  });
  return { code, log };
}
