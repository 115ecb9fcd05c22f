import { describe, expect, test } from '@jest/globals';
import type { ProgramAnswer } from '../../../tools/devcluster/cluster/discovery.ts';
import { missingPackages, nodeFault } from '../../../tools/devcluster/cluster/node/node-fault.ts';

const root = { platform: 'linux', uid: 0 };
const works: ProgramAnswer = { status: 0, stdout: '', stderr: '' };

interface Parts {
  readonly programs?: Readonly<Record<string, ProgramAnswer>>;
  /** Paths of programs that are not there. */
  readonly lacking?: readonly string[];
}

function machineWith({ programs = { unshare: works }, lacking = [] }: Parts = {}): Parameters<typeof nodeFault>[0] {
  return { run: (program) => programs[program], isExecutable: (path) => !lacking.includes(path) };
}

describe('whether a node can be had', () => {
  test('it can where everything is there', () => {
    expect(nodeFault(machineWith(), root)).toBeUndefined();
  });

  test('it cannot on another system, nor for a user who is not root', () => {
    expect(nodeFault(machineWith(), { platform: 'darwin', uid: 0 })).toBe('a node needs Linux, and this is darwin');
    expect(nodeFault(machineWith(), { platform: 'linux', uid: 1000 })).toBe('a node needs root');
  });

  test('it cannot if namespaces are refused, as in most containers, and the system’s words are shown', () => {
    const unshare = { status: 1, stdout: '', stderr: 'unshare: unshare failed: Operation not permitted\n' };
    expect(nodeFault(machineWith({ programs: { unshare } }), root)).toBe(
      'namespaces cannot be made here (unshare: unshare failed: Operation not permitted)',
    );
    expect(nodeFault(machineWith({ programs: {} }), root)).toBe('unshare is not installed');
  });

  test('what is missing stands in the way only where apt-get cannot install it', () => {
    const lacking = ['/usr/sbin/runc', '/usr/lib/cni/bridge'];
    expect(nodeFault(machineWith({ lacking }), root)).toBe(
      'runc, containernetworking-plugins: not installed, and there is no apt-get to install it',
    );
    const machine = machineWith({ lacking, programs: { unshare: works, 'apt-get': works } });
    expect(nodeFault(machine, root)).toBeUndefined();
    expect(missingPackages(machine)).toEqual(['runc', 'containernetworking-plugins']);
  });
});
