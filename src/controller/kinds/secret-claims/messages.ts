import { shortList } from '../../names.ts';
import type { Claimant, SecretClaim } from './claim.ts';
import type { Repair } from './drift.ts';

/** What SecretSyncs and ServiceTokens report alike of a Secret that another resource claims or another client changes. */

export function claimedText(secret: string, { kind, name, isMerge }: SecretClaim): string {
  return isMerge
    ? `The ${kind} ${name} merges keys into Secret ${secret}, so only what created the Secret before may create it again.`
    : `Secret ${secret} belongs to the ${kind} ${name}: nothing else creates or writes it.`;
}

const plurals: Readonly<Record<Claimant['kind'], string>> = {
  SecretSync: 'secretsyncs',
  ServiceToken: 'servicetokens',
};

/** What to do about a resource that claims a missing Secret: as long as it exists, nothing else creates the Secret. */
export function waitingHolder(namespace: string, { kind, name }: Claimant): string {
  return (
    `The Secret is missing. To see what the ${kind} ${name} waits for, ` +
    `run \`kubectl describe ${plurals[kind]}.keyframe.dev -n ${namespace} ${name}\`. ` +
    `If nothing needs that ${kind}, delete it.`
  );
}

/** The Event DriftRepaired. */
export function driftRepaired(secret: string, repair: Repair): string {
  const { managers, changed, removed, isDeleted } = repair;
  const client = managers.length === 0 ? 'Another client' : shortList(managers);
  if (isDeleted) return `${client} deleted Secret ${secret}. The controller created it again. ${twoWriters}`;
  const parts = [
    changed.length === 0 ? '' : `added or changed the keys ${shortList(changed)}`,
    removed.length === 0 ? '' : `removed the keys ${shortList(removed)}`,
    repair.isImmutable ? 'made it immutable' : '',
    repair.isTypeChanged ? 'changed its type' : '',
    repair.isMetadataChanged ? 'changed its labels, annotations or owner references' : '',
  ].filter((part) => part !== '');
  return `${client} wrote Secret ${secret}: ${parts.join('; ')}. The controller repaired it. ${twoWriters}`;
}

const twoWriters = 'If this happens again, stop the other client, or change the values in Keyframe instead.';
