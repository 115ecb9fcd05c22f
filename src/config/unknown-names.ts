import { commandVariables } from '../lib/command-variables.ts';
import { prefix, secretNames, variableNames } from './variables.ts';

const knownNames: readonly string[] = [...variableNames, ...secretNames.map((name) => `${name}_FILE`)];
// Other programs of Keyframe read these, and may share an environment with the server.
const commandNames: readonly string[] = commandVariables.map((name) => name.slice(prefix.length));
const toolNames = /^(?:CACHE_DIR|TEST_.+)$/;
// Kubernetes gives a pod such variables for each Service of its namespace, and the server's is likely called keyframe.
const serviceLinkNames = /^(?:.+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_.+)?)$/;
const serviceLinkValue = /^(?:tcp|udp|sctp):\/\//;

/** A fault for each `KEYFRAME_*` name that nothing reads: a misspelt variable must not pass for an absent one. */
export function unknownNameFaults(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([variable, value]) => {
    if (!variable.startsWith(prefix) || value === undefined) return [];
    const name = variable.slice(prefix.length);
    return isKnown(name, value) ? [] : [`${variable}: ${advice(name)}`];
  });
}

function isKnown(name: string, value: string): boolean {
  if (knownNames.includes(name) || commandNames.includes(name) || toolNames.test(name)) return true;
  return serviceLinkNames.test(name) || (name.endsWith('_PORT') && serviceLinkValue.test(value));
}

function advice(name: string): string {
  const nearest = nearestName(name);
  return `is not a variable of this server${nearest === undefined ? '' : `; ${prefix}${nearest} is`}`;
}

/** The known name with the fewest different letters; undefined if all of them differ in more than three. */
function nearestName(name: string): string | undefined {
  const distances = knownNames.map((known) => ({ known, distance: editDistance(known, name) }));
  const [nearest] = distances.toSorted((left, right) => left.distance - right.distance);
  return nearest !== undefined && nearest.distance <= 3 ? nearest.known : undefined;
}

/** How many letters to insert, delete or replace to make one name of the other. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 0; row < left.length; row += 1) {
    const current = [row + 1];
    for (let column = 0; column < right.length; column += 1) {
      const replaced = (previous[column] ?? 0) + (left[row] === right[column] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
