import { describe, expect, test } from '@jest/globals';
import {
  clusterSources,
  findCandidates,
  kindFault,
  type MachineView,
  type ProgramAnswer,
} from '../../../tools/devcluster/cluster/discovery.ts';

const ours = 'v1.36.3';
const dockerAnswers: ProgramAnswer = { status: 0, stdout: '28.2.2\n', stderr: '' };
const kindIsThere: ProgramAnswer = { status: 0, stdout: 'kind v0.33.0 go1.26.1 linux/amd64\n', stderr: '' };

interface Parts {
  readonly env?: NodeJS.ProcessEnv;
  readonly programs?: Readonly<Record<string, ProgramAnswer>>;
  readonly executables?: readonly string[];
}

function machineWith({ env = {}, programs = {}, executables = [] }: Parts): MachineView & { asked: string[] } {
  const asked: string[] = [];
  const run = (program: string): ProgramAnswer | undefined => {
    asked.push(program);
    return programs[program];
  };
  return { env, asked, run, isExecutable: (path) => executables.includes(path) };
}

function assets(version: string, names: readonly string[]): Parts {
  return {
    env: { KUBEBUILDER_ASSETS: '/assets' },
    programs: { '/assets/kube-apiserver': { status: 0, stdout: `Kubernetes ${version}\n`, stderr: '' } },
    executables: names.map((name) => `/assets/${name}`),
  };
}

const sourcesOf = (parts: Parts): string[] =>
  findCandidates(machineWith(parts), ours).candidates.map((each) => each.source);

describe('the order in which a cluster is looked for', () => {
  const all: Parts = {
    ...assets(ours, ['etcd', 'kube-apiserver']),
    programs: {
      ...assets(ours, []).programs,
      docker: dockerAnswers,
      kind: kindIsThere,
    },
  };

  test('is kind, then KUBEBUILDER_ASSETS, then our own build', () => {
    expect(sourcesOf(all)).toEqual(['kind', 'assets', 'built']);
  });

  test('an explicitly named cluster is the only candidate, and nothing else of the machine is asked', () => {
    const machine = machineWith({ ...all, env: { ...all.env, KEYFRAME_TEST_KUBECONFIG: '/some/kubeconfig' } });
    const { candidates, passedOver } = findCandidates(machine, ours);
    expect(candidates).toEqual([{ source: 'explicit', kubeconfig: '/some/kubeconfig' }]);
    expect(passedOver).toEqual([]);
    expect(machine.asked).toEqual([]);
  });

  test("the user's own KUBECONFIG is no candidate", () => {
    const { candidates } = findCandidates(machineWith({ env: { KUBECONFIG: '/home/user/production' } }), ours);
    expect(candidates).toEqual([{ source: 'built' }]);
  });

  test('on a bare machine it is our own build, and each other way is passed over with its reason', () => {
    expect(findCandidates(machineWith({}), ours)).toEqual({
      candidates: [{ source: 'built' }],
      passedOver: [
        { source: 'explicit', reason: 'KEYFRAME_TEST_KUBECONFIG is not set' },
        { source: 'kind', reason: 'docker is not installed' },
        { source: 'assets', reason: 'KUBEBUILDER_ASSETS is not set' },
      ],
    });
  });

  test('an empty variable counts as none', () => {
    expect(sourcesOf({ env: { KEYFRAME_TEST_KUBECONFIG: '', KUBEBUILDER_ASSETS: '' } })).toEqual(['built']);
  });

  test.each(clusterSources)('a caller that allows only «%s» gets no other', (source) => {
    const env = { ...all.env, KEYFRAME_TEST_KUBECONFIG: '/some/kubeconfig' };
    const { candidates } = findCandidates(machineWith({ ...all, env }), ours, [source]);
    expect(candidates.map((each) => each.source)).toEqual([source]);
  });
});

describe('kind is reported as not run', () => {
  const fault = (programs: Record<string, ProgramAnswer>): string | undefined => kindFault(machineWith({ programs }));

  test('where Docker is not installed', () => {
    expect(fault({ kind: kindIsThere })).toBe('docker is not installed');
  });

  test('if no daemon answers docker info, in its own words', () => {
    const stderr = 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock.\nIs it running?\n';
    expect(fault({ docker: { status: 1, stdout: '', stderr }, kind: kindIsThere })).toBe(
      'docker info does not answer: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.',
    );
  });

  test('where docker info exits with 0 and names no server', () => {
    const docker = { status: 0, stdout: '\n', stderr: 'no server' };
    expect(fault({ docker, kind: kindIsThere })).toBe('docker info does not answer: no server');
  });

  test('where kind is not installed', () => {
    expect(fault({ docker: dockerAnswers })).toBe('kind is not installed');
  });

  test('where the program of that name is the type checker from npm', () => {
    const kind = { status: 0, stdout: '2.0.1\n', stderr: '' };
    expect(fault({ docker: dockerAnswers, kind })).toBe('the kind on the PATH is not the Kubernetes tool');
  });

  test('and not so where both are there', () => {
    expect(fault({ docker: dockerAnswers, kind: kindIsThere })).toBeUndefined();
  });
});

describe('the folder that KUBEBUILDER_ASSETS names', () => {
  const reason = (parts: Parts): string | undefined =>
    findCandidates(machineWith(parts), ours).passedOver.find(({ source }) => source === 'assets')?.reason;
  const candidate = (parts: Parts): unknown =>
    findCandidates(machineWith(parts), ours).candidates.find(({ source }) => source === 'assets');

  test('is taken without a controller manager, which is then built, where its minor version is ours', () => {
    const found = candidate(assets('v1.36.0', ['etcd', 'kube-apiserver']));
    expect(found).toEqual({ source: 'assets', folder: '/assets', hasControllerManager: false });
  });

  test('is taken in another version where it has a controller manager', () => {
    const found = candidate(assets('v1.35.2', ['etcd', 'kube-apiserver', 'kube-controller-manager']));
    expect(found).toEqual({ source: 'assets', folder: '/assets', hasControllerManager: true });
  });

  test('is passed over in another version without one', () => {
    expect(reason(assets('v1.35.2', ['etcd', 'kube-apiserver']))).toBe(
      'KUBEBUILDER_ASSETS has «Kubernetes v1.35.2» without kube-controller-manager, and only that of v1.36.3 is built here',
    );
  });

  test('is passed over where it lacks a program', () => {
    expect(reason(assets(ours, ['etcd']))).toBe('KUBEBUILDER_ASSETS: /assets lacks kube-apiserver');
  });

  test.each(['v1.33.9', 'v0.0.0-master'])(
    'is passed over in version %s, too old for our configuration files',
    (version) => {
      const names = ['etcd', 'kube-apiserver', 'kube-controller-manager'];
      expect(reason(assets(version, names))).toBe(
        `KUBEBUILDER_ASSETS has «Kubernetes ${version}»; v1.34 or newer is needed`,
      );
    },
  );
});
