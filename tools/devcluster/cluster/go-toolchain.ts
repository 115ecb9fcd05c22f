import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClusterError } from './cluster-error.ts';

/** Other ways to a cluster, for messages about Go. */
const waysWithoutGo =
  'Without Go: start Docker and install kind (https://kind.sigs.k8s.io), or set KUBEBUILDER_ASSETS to a folder with etcd and ' +
  'kube-apiserver. npm test and npm run cluster (not npm start) also take a cluster made for tests, whose kubeconfig ' +
  'KEYFRAME_TEST_KUBECONFIG names.';

/** The environment in which `go` builds our pins, whatever the user's own settings for other projects are. */
export function goEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { GOOS: _os, GOARCH: _arch, ...rest } = env;
  return { ...rest, CGO_ENABLED: '0', GOFLAGS: '', GOWORK: 'off' };
}

/** Checks that a Go which can build this module is on the PATH. Throws ClusterError that says what to install. */
export function requireGo(env: NodeJS.ProcessEnv, moduleFolder: string): void {
  const wanted = /^go (\d+\.\d+)/m.exec(readFileSync(join(moduleFolder, 'go.mod'), 'utf8'))?.[1] ?? '';
  const install = `Install Go ${wanted} or newer from https://go.dev/dl and put it on the PATH. ${waysWithoutGo}`;
  try {
    // Run inside the module, `go` itself compares its version with go.mod, and fetches a newer one if it may.
    const options = { cwd: moduleFolder, env: goEnvironment(env), encoding: 'utf8', stdio: 'pipe' } as const;
    const version = execFileSync('go', ['env', 'GOVERSION'], options).trim();
    if (isOlder(version, wanted)) throw new ClusterError(`The Go on the PATH is ${version}, too old. ${install}`);
  } catch (error) {
    if (error instanceof ClusterError) throw error;
    const { code, stderr } = error as { code?: string; stderr?: string };
    if (code === 'ENOENT')
      throw new ClusterError(`A local Kubernetes has to be built, and Go is not installed. ${install}`);
    const said = stderr?.trim().split('\n').at(-1) ?? '';
    throw new ClusterError(`The Go on the PATH cannot build Kubernetes (${said}). ${install}`, { cause: error });
  }
}

function isOlder(version: string, wanted: string): boolean {
  const [major = 0, minor = 0] = numbersIn(version);
  const [wantedMajor = 0, wantedMinor = 0] = numbersIn(wanted);
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}

function numbersIn(version: string): number[] {
  return (version.match(/\d+/g) ?? []).map(Number);
}
