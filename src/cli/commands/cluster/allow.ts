import { defineCommand } from '../../core/command.ts';
import { choice } from '../../core/options.ts';
import {
  type ClusterRule,
  clusterArgument,
  findRules,
  kindOption,
  putRules,
  ruleOptions,
  ruleText,
} from './cluster-rules.ts';

/** What a rule for a kind means, besides that the cluster reads the secrets. */
const meanings: Readonly<Partial<Record<ClusterRule['kinds'][number], string>>> = {
  ServiceToken: 'the admins of the cluster decide who gets a token, and it works from anywhere',
  SecretSnapshot: 'the admins of the cluster decide when snapshots are taken, and delete those that it took',
  SnapshotSchedule: 'the admins of the cluster decide when snapshots are taken, and delete those that it took',
  SnapshotRestore: 'the admins of the cluster decide when secrets are restored, and approve the plans',
};

/** `cluster allow <cluster>`: docs/interface.md 4.18. */
export const clusterAllowCommand = defineCommand({
  summary: 'Allow a cluster to read an environment, or more',
  description:
    'Adds a rule. A resource of the cluster needs it beside an AccessGrant of its namespace. The default is that SecretSyncs read. Taking and restoring snapshots requires read_write. A SnapshotSchedule needs a rule for SecretSnapshot too. Requires the role admin or owner in the organization. Asks before the first rule for a home cluster, because from then on the cluster may only do what a rule covers.',
  arguments: { cluster: clusterArgument },
  options: {
    ...ruleOptions,
    kind: kindOption,
    permission: choice('--permission <permission>', 'Highest permission', ['read', 'read_write'], { default: 'read' }),
  },
  examples: [
    { line: 'cluster allow fra-1 -o acme -p shop -e production', note: 'SecretSyncs read one environment' },
    {
      line: 'cluster allow fra-1 -o acme -p shop -e staging --kind ServiceToken',
      note: 'ServiceTokens too, which can read',
    },
  ],
  async run(context, { args: { cluster }, options }) {
    const org = await context.organization(options);
    const { project, environment, kind, permission } = options;
    const api = context.api();
    const found = await findRules(api, org, cluster);
    const rule: ClusterRule = { project, environments: [environment], permission, kinds: [kind] };
    if (found.rules === null && found.isHome) {
      await context.confirm(
        `Allow cluster ${cluster} in ${org} only ${ruleText(rule)}? Now it may do what its AccessGrants allow.`,
      );
    }
    const rules = found.rules ?? [];
    const isKnown = rules.some((other) => ruleText(other) === ruleText(rule));
    const value = isKnown ? found : await putRules(api, org, found, [...rules, rule]);
    const meaning = meanings[kind];
    const note = meaning === undefined ? '' : ` With ${kind}, ${meaning}.`;
    const sentence = `${org} allows cluster ${cluster} ${ruleText(rule)}.${note}`;
    await context.printer.done({ value, sentence, name: value.name });
  },
});
