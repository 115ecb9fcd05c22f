import type { FleetConsumerView } from '../../../wire/consumers.ts';
import type { Tone } from '../../parts/status.tsx';

type Health = FleetConsumerView['health'];

const tones: Readonly<Record<Health, Tone>> = {
  healthy: 'good',
  progressing: 'warn',
  stalled: 'danger',
  suspended: 'neutral',
};

const words: Readonly<Record<Health, string>> = {
  healthy: 'Healthy',
  progressing: 'In progress',
  stalled: 'Stalled',
  suspended: 'Suspended',
};

export function toneOf(health: Health): Tone {
  return tones[health];
}

export function wordOf(health: Health): string {
  return words[health];
}
