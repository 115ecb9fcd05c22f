import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Names the space in which process numbers mean something: a cache folder may be shared with other machines and with
 * containers, whose processes this one can't see.
 */
export function machineName(): string {
  return `${hostname()} ${textOf(() => readlinkSync('/proc/self/ns/pid'))}`.trim();
}

/** Names the time since the machine was started; empty if the system does not show it. Start times are counted from it. */
export function bootName(): string {
  return textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
