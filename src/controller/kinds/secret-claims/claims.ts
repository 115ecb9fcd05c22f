import type { EventLog } from '../../frame/event-log.ts';
import type { Seen } from '../../frame/dependencies.ts';
import { type Claimant, type SecretClaim, type SecretOwner, holderAmong } from './claim.ts';

/** The claim of one resource. */
interface Entry {
  /** As the resource shows it. */
  readonly shown: SecretClaim;
  /** What the last reconcile found, if the status does not report it yet. */
  readonly found: Pick<SecretClaim, 'heldAt'> | undefined;
}

/**
 * Which resources write which Secrets, by the `namespace/name` of the Secret. The claims come from the resources and their
 * status, so that another controller, or this one after a restart, knows the same holder.
 */
export class SecretClaims {
  readonly #events: Pick<EventLog, 'publish'>;
  readonly #bySecret = new Map<string, Map<string, Entry>>();

  constructor(events: Pick<EventLog, 'publish'>) {
    this.#events = events;
  }

  /** Notes a resource that writes a Secret. Call it with each version of the resource. */
  note(secret: string, shown: SecretClaim): void {
    const before = this.#entry(secret, shown);
    const isReported = before?.found === undefined || isHeld(before.found) === isHeld(shown);
    this.#set(secret, { shown, found: isReported ? undefined : before.found });
  }

  /** Notes whether a resource holds a Secret since now, before its status reports it. */
  found(secret: string, claimant: Claimant, heldAt: string | undefined): void {
    const before = this.#entry(secret, claimant);
    if (before !== undefined) this.#set(secret, { ...before, found: { heldAt } });
  }

  /** Drops what no status reports. Another controller may have led since. */
  forgetFound(): void {
    for (const entries of this.#bySecret.values())
      for (const [id, { shown }] of entries) entries.set(id, { shown, found: undefined });
  }

  /** Notes that a resource no longer writes a Secret. */
  drop(secret: string, claimant: Claimant): void {
    const entries = this.#bySecret.get(secret);
    if (entries?.delete(idOf(claimant)) !== true) return;
    if (entries.size === 0) this.#bySecret.delete(secret);
    else this.#publish(secret, claimant);
  }

  /** The claim that decides who may create a Secret, unless it is that of this resource or there is none. */
  rivalOf(secret: string, claimant: Claimant, seen: Seen): SecretClaim | undefined {
    const holder = holderAmong(this.#claims(secret));
    seen.renote('Secret holder', secret, versionOf(holder));
    return holder !== undefined && idOf(holder) === idOf(claimant) ? undefined : holder;
  }

  /** The claim of the resource that an existing Secret belongs to; undefined if it does not write it. */
  ownerClaim(secret: string, owner: SecretOwner | undefined, seen: Seen): SecretClaim | undefined {
    const { kind, name } = owner ?? {};
    if (kind === undefined || name === undefined) return undefined;
    const claim = this.#noted(secret, { kind, name }, seen);
    return claim?.isMerge === false ? claim : undefined;
  }

  /** The names of the SecretSyncs that merged keys into a Secret. */
  mergersOf(secret: string): readonly string[] {
    return this.#claims(secret).flatMap((claim) => (claim.isMerge && isHeld(claim) ? [claim.name] : []));
  }

  /** Notes that a result depends on the claim of a resource. */
  depend(secret: string, claimant: Claimant, seen: Seen): void {
    this.#noted(secret, claimant, seen);
  }

  #noted(secret: string, claimant: Claimant, seen: Seen): SecretClaim | undefined {
    const entry = this.#entry(secret, claimant);
    const claim = entry === undefined ? undefined : claimOf(entry);
    seen.renote('Secret claim', claimKey(secret, claimant), versionOf(claim));
    return claim;
  }

  #entry(secret: string, claimant: Claimant): Entry | undefined {
    return this.#bySecret.get(secret)?.get(idOf(claimant));
  }

  #claims(secret: string): SecretClaim[] {
    return [...(this.#bySecret.get(secret)?.values() ?? [])].map(claimOf);
  }

  #set(secret: string, entry: Entry): void {
    const entries = this.#bySecret.get(secret) ?? new Map<string, Entry>();
    const id = idOf(entry.shown);
    const before = entries.get(id);
    this.#bySecret.set(secret, entries.set(id, entry));
    // Most versions of a resource do not change its claim, and most Secrets have one claimant.
    const isSame = before !== undefined && textOf(claimOf(before)) === textOf(claimOf(entry));
    if (!isSame && entries.size > 1) this.#publish(secret, entry.shown);
  }

  #publish(secret: string, claimant: Claimant): void {
    const entry = this.#entry(secret, claimant);
    const claim = entry === undefined ? undefined : claimOf(entry);
    this.#events.publish({ kind: 'Secret claim', id: claimKey(secret, claimant), version: versionOf(claim) });
    this.#events.publish({ kind: 'Secret holder', id: secret, version: versionOf(holderAmong(this.#claims(secret))) });
  }
}

function claimOf({ shown, found }: Entry): SecretClaim {
  return found === undefined ? shown : { ...shown, ...found };
}

function isHeld({ heldAt }: Pick<SecretClaim, 'heldAt'>): boolean {
  return heldAt !== undefined;
}

function idOf({ kind, name }: Claimant): string {
  return `${kind} ${name}`;
}

function claimKey(secret: string, claimant: Claimant): string {
  return `${secret} ${idOf(claimant)}`;
}

/** Identifies a claim, but not the time since when the Secret is held. */
function versionOf(claim: SecretClaim | undefined): string {
  if (claim === undefined) return 'none';
  return `${idOf(claim)} ${claim.isMerge ? 'merges' : 'creates'} ${isHeld(claim) ? 'held' : 'new'}`;
}

function textOf({ heldAt, createdAt, isMerge }: SecretClaim): string {
  return JSON.stringify([heldAt, createdAt, isMerge]);
}
