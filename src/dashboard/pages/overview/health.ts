import type { FleetConsumerView } from '../../../wire/consumers.ts';
import type { Tone } from '../../parts/status.tsx';
import type { Concern } from '../../text/newest.ts';

type State = FleetConsumerView['health'] | Concern;

const tones: Readonly<Record<State, Tone>> = {
  healthy: 'good',
  progressing: 'warn',
  stalled: 'danger',
  suspended: 'neutral',
  behind: 'warn',
  stale: 'warn',
};

const words: Readonly<Record<State, string>> = {
  healthy: 'Healthy',
  progressing: 'In progress',
  stalled: 'Stalled',
  suspended: 'Suspended',
  behind: 'Behind',
  stale: 'Stale',
};

export function toneOf(state: State): Tone {
  return tones[state];
}

export function wordOf(state: State): string {
  return words[state];
}
