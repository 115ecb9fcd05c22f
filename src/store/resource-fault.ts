/** What PostgreSQL lacks, and what its administrator can do. */
export interface ResourceFault {
  readonly fault: string;
  readonly advice: string;
}

const faults: ReadonlyMap<string, ResourceFault> = new Map([
  ['53100', { fault: 'PostgreSQL has no space left on its disk', advice: 'enlarge its volume, or free space on it' }],
  ['53200', { fault: 'PostgreSQL has no memory left', advice: 'give it more, or lower its settings of memory' }],
  [
    '53300',
    {
      fault: 'PostgreSQL takes no more connections',
      advice: 'raise max_connections or the limit of the role or the database, or end other sessions',
    },
  ],
  ['53400', { fault: 'PostgreSQL has reached a limit of its settings', advice: 'raise the one that its log names' }],
]);

/** The fault with its SQLSTATE, and the advice. */
export function resourceSentence(state: string | undefined): string | undefined {
  const found = resourceFault(state);
  return found && `${found.fault} (${state}): ${found.advice}`;
}

/** By an SQLSTATE; undefined for one that says nothing of resources. */
export function resourceFault(state: string | undefined): ResourceFault | undefined {
  return state === undefined ? undefined : faults.get(state);
}
