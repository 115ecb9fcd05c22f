import { ClusterError } from './cluster-error.ts';
import { runTool } from './run-tool.ts';

/** A cable (a veth pair) between this machine and a network namespace, in a range of addresses that nothing else uses. */
export interface Cable {
  /** The name of this machine's end. The other one is called `machine`. */
  readonly link: string;
  /** 10.`range`.0.0/16 is free. */
  readonly range: number;
}

// 10.88.0.0/16 to 10.119.0.0/16.
const [firstRange, lastRange] = [88, 119];

/** Lays a cable to the namespace of a process, with which it goes. Throws ClusterError. */
export async function layCable(pid: number): Promise<Cable> {
  const routes = await runTool('ip', ['route', 'show', 'table', 'all']);
  for (let range = firstRange; range <= lastRange; range += 1) {
    if (new RegExp(`\\b10\\.${range}\\.`).test(routes)) continue;
    const link = `keyframe${range}`;
    if (await isLaid(link, pid)) return { link, range };
  }
  throw new ClusterError(`No range of addresses from 10.${firstRange}.0.0/16 to 10.${lastRange}.0.0/16 is free.`);
}

/** False if the name, and so the range, is taken. */
async function isLaid(link: string, pid: number): Promise<boolean> {
  try {
    await runTool('ip', ['link', 'add', link, 'type', 'veth', 'peer', 'name', 'machine', 'netns', String(pid)]);
    return true;
  } catch (error) {
    if (error instanceof ClusterError && error.message.includes('File exists')) return false;
    throw error;
  }
}

/** Gives this machine's end its address. */
export async function connectMachine({ link, range }: Cable): Promise<string> {
  const address = `10.${range}.0.1`;
  await runTool('ip', ['address', 'add', `${address}/30`, 'dev', link]);
  await runTool('ip', ['link', 'set', link, 'up']);
  return address;
}
