const natives: readonly (readonly [RegExp, string])[] = [
  // Its processes write what they do into their command line.
  [/^postgres\b/, 'PostgreSQL'],
  [/^chrom/, 'Chromium'],
  [/^python/, 'Python'],
];
const scripts: readonly (readonly [RegExp, string])[] = [
  [/\/jest-worker\//, 'Jest worker'],
  [/\/jest\/bin\/jest\.js$/, 'Jest'],
  [/\/keyframe\.cjs$/, 'keyframe'],
];
// The last one is that of the image.
const server = /\/(?:dist\/server\/main\.js|src\/main\.ts|bin\/keyframe-server)$/;
// Options of Node.js whose value is the next argument.
const takesValue = ['--import', '--require', '-r', '--env-file'];

/** The program that a command line runs, as the table of `--cost` names it. */
export function programOf(args: readonly string[]): string {
  const [executable = '', ...more] = args;
  const name = executable.replace(/^.*\//, '');
  if (name === 'node') return nodeProgramOf(more);
  // Programs in the cache folder end with the hash of what they were built from.
  return natives.find(([pattern]) => pattern.test(name))?.[1] ?? name.replace(/-[0-9a-f]{16}$/, '');
}

function nodeProgramOf(args: readonly string[]): string {
  const at = args.findIndex((arg, index) => !arg.startsWith('-') && !takesValue.includes(args[index - 1] ?? ''));
  const script = args[at];
  if (script === undefined || /^-(?:e|p|-eval|-print)$/.test(args[at - 1] ?? '')) return 'node';
  if (server.test(script)) return `keyframe-server ${args[at + 1] ?? ''}`.trim();
  const known = scripts.find(([pattern]) => pattern.test(script));
  if (known !== undefined) return known[1];
  const [, packageName] = /\/node_modules\/(?:\.bin\/)?((?:@[^/]+\/)?[^/]+)[^]*$/.exec(script) ?? [];
  return packageName ?? script.replace(/^.*\/(?=(?:tools|test)\/)/, '');
}
