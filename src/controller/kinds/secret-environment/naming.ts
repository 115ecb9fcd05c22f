import type { EventLog } from '../../frame/event-log.ts';
import { objectKey } from '../../../kube/client/objects.ts';
import type { SecretEnvironment } from '../../generated/secret-environment.ts';
import { environmentPath } from '../../environment-ref.ts';

/** The SecretEnvironments of the cluster, by the environment that they name. */
export class NamedEnvironments {
  readonly #find: (key: string) => SecretEnvironment | undefined;
  readonly #events: Pick<EventLog, 'publish'>;
  readonly #keys = new Map<string, Set<string>>();

  constructor(find: (key: string) => SecretEnvironment | undefined, events: Pick<EventLog, 'publish'>) {
    this.#find = find;
    this.#events = events;
  }

  seen({ metadata, spec }: SecretEnvironment): void {
    const place = environmentPath(spec);
    this.#keys.set(place, (this.#keys.get(place) ?? new Set()).add(objectKey(metadata)));
    this.#publish(place);
  }

  gone({ metadata, spec }: SecretEnvironment): void {
    const place = environmentPath(spec);
    const keys = this.#keys.get(place);
    keys?.delete(objectKey(metadata));
    if (keys?.size === 0) this.#keys.delete(place);
    this.#publish(place);
  }

  /** Those that name an environment: `organization/project/environment`. */
  at(place: string): readonly SecretEnvironment[] {
    return [...(this.#keys.get(place) ?? [])].flatMap((key) => this.#find(key) ?? []);
  }

  #publish(place: string): void {
    const version = namersVersion(namersOf(this.at(place)));
    this.#events.publish({ kind: 'display names', id: place, version });
  }
}

/**
 * Those that set the display name of the environment that all of these name, the oldest first. One that is suspended counts,
 * and one that is being deleted counts until it is gone. So neither changes the name.
 */
export function namersOf(all: Iterable<SecretEnvironment>): readonly SecretEnvironment[] {
  return [...all]
    .filter(({ spec }) => spec.displayName !== undefined)
    .toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));
}

/** Changes with each of them and with its name. */
export function namersVersion(namers: readonly SecretEnvironment[]): string {
  return JSON.stringify(namers.map(({ metadata, spec }) => [metadata.uid, spec.displayName]));
}

function rankOf({ metadata: { uid, creationTimestamp = '' } }: SecretEnvironment): string {
  return `${creationTimestamp} ${uid}`;
}
