import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeNetwork } from './node-network.ts';
import type { NodeSpace } from './node-space.ts';
import { makePauseImage, pauseImageTag } from './pause-image.ts';

interface ContainerdPrograms {
  readonly containerd: string;
  readonly 'containerd-shim-runc-v2': string;
  readonly ctr: string;
  readonly pause: string;
}

interface ContainerdOptions {
  readonly programs: ContainerdPrograms;
  readonly space: NodeSpace;
  readonly network: NodeNetwork;
  /** The run's. */
  readonly folder: string;
}

/** Where it listens, within the node's mounts. */
export const containerdSocket = '/run/containerd/containerd.sock';

const runc = '/usr/sbin/runc';
const cniPrograms = '/usr/lib/cni';
const snapshotter = 'overlayfs';

/** containerd on a node: it keeps images and runs the containers of pods, with runc and the plugins of CNI. */
export class Containerd {
  readonly #options: ContainerdOptions;

  private constructor(options: ContainerdOptions) {
    this.#options = options;
  }

  /** Starts it and waits until it answers and has the image of pause. Throws ClusterError with the end of its log. */
  static async start(options: ContainerdOptions): Promise<Containerd> {
    const { programs, space, folder } = options;
    const plugins = join(folder, 'cni');
    mkdirSync(plugins);
    writeFileSync(join(plugins, 'pods.conflist'), JSON.stringify(podNetwork(options)));
    const configFile = join(folder, 'containerd.toml');
    writeFileSync(configFile, configuration(options));
    const containerd = new Containerd(options);
    space.startComponent({ name: 'containerd', program: programs.containerd, args: ['--config', configFile] });
    await space.waitFor('containerd', () => containerd.#answers());
    await containerd.importImages(makePauseImage(programs.pause, folder));
    return containerd;
  }

  /** Takes in the images of a file, as `docker save` writes it. */
  async importImages(file: string): Promise<void> {
    await this.#ctr(['images', 'import', '--local', '--snapshotter', snapshotter, file]);
  }

  async #answers(): Promise<boolean> {
    return await this.#ctr(['version']).then(
      () => true,
      () => false,
    );
  }

  async #ctr(args: readonly string[]): Promise<void> {
    const { programs, space } = this.#options;
    // The namespace is containerd's own: what the kubelet sees.
    await space.run(programs.ctr, ['--address', containerdSocket, '--namespace', 'k8s.io', ...args]);
  }
}

// Version 3 of containerd's configuration, in TOML, of which JSON strings are a part.
function configuration({ programs, folder }: ContainerdOptions): string {
  const text = JSON.stringify;
  const runtime = `plugins."io.containerd.cri.v1.runtime"`;
  return `version = 3
root = ${text(join(folder, 'containerd'))}
state = "/run/containerd"

[grpc]
address = ${text(containerdSocket)}

[plugins."io.containerd.cri.v1.images"]
snapshotter = ${text(snapshotter)}

[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = ${text(pauseImageTag)}

[${runtime}]
# Where the machine does not let root lower it.
restrict_oom_score_adj = true

[${runtime}.containerd]
default_runtime_name = "runc"

[${runtime}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
runtime_path = ${text(programs['containerd-shim-runc-v2'])}

[${runtime}.containerd.runtimes.runc.options]
BinaryName = ${text(runc)}
SystemdCgroup = false

[${runtime}.cni]
bin_dirs = [${text(cniPrograms)}]
conf_dir = ${text(join(folder, 'cni'))}
`;
}

/** Pods hang on the bridge; what they send is not rewritten, so a pod sees the address of who asks. */
function podNetwork({ network, folder }: ContainerdOptions): object {
  return {
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge: network.bridge,
        isGateway: true,
        hairpinMode: true,
        ipMasq: false,
        ipam: {
          type: 'host-local',
          dataDir: join(folder, 'addresses'),
          ranges: [[{ subnet: network.podRange, rangeStart: network.podRange.replace('.0/24', '.10') }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}
