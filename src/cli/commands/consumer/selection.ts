import type { ConsumerView } from '../../../wire/consumers.ts';
import { CliError, usageError } from '../../core/cli-error.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { repeated } from '../../core/options.ts';

export const selectionOptions = {
  namespaces: repeated('--namespace <namespace>', 'With --converged: only the SecretSyncs in this namespace', 'all'),
  secretSyncs: repeated(
    '--secret-sync <name>',
    'With --converged: only this SecretSync, as name or namespace/name; can be given several times',
    'all',
  ),
};

/** Some consumers of an environment; empty lists select all. A consumer must match both lists. */
export interface ConsumerSelection {
  readonly namespaces: readonly string[];
  /** `name`, which may be in any namespace, or `namespace/name`. */
  readonly secretSyncs: readonly string[];
}

interface SelectedConsumers {
  readonly selected: readonly ConsumerView[];
  /** What was selected and no consumer matches, as users read it. It may be applied a moment later. */
  readonly absent: readonly string[];
}

/** Throws CliError usage for a SecretSync that is neither `name` nor `namespace/name`. */
export function requireSecretSyncNames({ secretSyncs }: ConsumerSelection): void {
  const wrong = secretSyncs.find((given) => !/^[a-z0-9.-]+(?:\/[a-z0-9.-]+)?$/.test(given));
  if (wrong !== undefined) throw usageError(`--secret-sync must be name or namespace/name, not ${wrong}`);
}

/**
 * The consumers that users selected. The server shows namespaces only to callers who may write to the environment.
 *
 * @throws CliError forbidden if the selection names a namespace and the caller sees none
 */
export function selectConsumers(
  consumers: readonly ConsumerView[],
  { namespaces, secretSyncs }: ConsumerSelection,
): SelectedConsumers {
  const namesNamespace = namespaces.length > 0 || secretSyncs.some((given) => given.includes('/'));
  if (namesNamespace && consumers.some(({ namespace }) => namespace === null)) throw hiddenNamespaces();
  const tests = [
    ...namespaces.map((given) => ({
      title: `any SecretSync in namespace ${given}`,
      matches: ({ namespace }: ConsumerView) => namespace === given,
    })),
    ...secretSyncs.map((given) => ({
      title: `SecretSync ${given}`,
      matches: ({ namespace, name }: ConsumerView) => given === name || given === `${namespace}/${name}`,
    })),
  ];
  const isIn = (consumer: ConsumerView, part: typeof tests): boolean =>
    part.length === 0 || part.some(({ matches }) => matches(consumer));
  const inNamespaces = tests.slice(0, namespaces.length);
  const named = tests.slice(namespaces.length);
  const selected = consumers.filter((consumer) => isIn(consumer, inNamespaces) && isIn(consumer, named));
  return { selected, absent: tests.filter(({ matches }) => !selected.some(matches)).map(({ title }) => title) };
}

function hiddenNamespaces(): CliError {
  return new CliError(exitCodes.forbidden, 'you see no namespaces, so they cannot select SecretSyncs', {
    next: ['Select by name alone: --secret-sync <name>', 'Or use a token or role that may write to the environment'],
  });
}
