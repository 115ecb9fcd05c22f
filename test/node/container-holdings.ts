import type { NodeSite } from '../support/node/node-site.ts';

/** The environment, the arguments and the mounts of a Deployment's container, and the files in these mounts. */
export async function heldByContainer(
  site: NodeSite,
  { namespace, deployment }: { readonly namespace: string; readonly deployment: string },
): Promise<Buffer> {
  const printed = await site.exec(namespace, `deployment/${deployment}`, ['node', '-e', `(${print.toString()})()`]);
  return Buffer.from(printed, 'base64');
}

/** Runs in the container, beside its first process. */
function print(): void {
  const { readFileSync, readdirSync, statSync } = process.getBuiltinModule('node:fs');
  const mounts = readFileSync('/proc/1/mountinfo', 'utf8');
  const folders = [...mounts.matchAll(/ (\/(?:etc\/keyframe|var\/run|run)\/\S+) /g)].map(([, folder = '']) => folder);
  const paths = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  );
  const ofProcess = ['environ', 'cmdline', 'mountinfo'].map((name) => `/proc/1/${name}`);
  const all = [...ofProcess, ...paths.filter((path) => statSync(path).isFile())].map((path) => readFileSync(path));
  process.stdout.write(Buffer.concat(all).toString('base64'));
}
