import { sharedCluster } from './cluster.ts';
import { runKubectl } from './kubectl.ts';

/** The change of an AccessGrant that a message suggests, and what runs it as it is printed. */
export interface SuggestedPatch {
  /** Name of the AccessGrant. */
  readonly grant: string;
  /** The rule that it adds. */
  readonly rule: unknown;
  readonly apply: () => Promise<void>;
}

/** Reads the `kubectl patch` command of a message. Throws if it shows none. */
export function suggestedPatch(message: string): SuggestedPatch {
  const [, grant = '', patch = ''] =
    /`kubectl patch accessgrants\.keyframe\.dev (\S+) --type=json -p '([^']+)'`/.exec(message) ?? [];
  if (grant === '') throw new Error(`The message shows no command: ${message}`);
  const [{ value: rule }] = JSON.parse(patch) as [{ value: unknown }];
  return {
    grant,
    rule,
    apply: async () => {
      await runKubectl(sharedCluster(), ['patch', 'accessgrants.keyframe.dev', grant, '--type=json', '-p', patch]);
    },
  };
}
