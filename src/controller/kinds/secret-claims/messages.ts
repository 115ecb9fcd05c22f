import type { Claimant, SecretClaim } from './claim.ts';

/** What SecretSyncs and ServiceTokens report alike of a Secret that another resource claims. */

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
