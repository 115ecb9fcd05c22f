import { DomainError } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';

/** How many secrets an environment holds, and how many bytes their values are; or by how much these grow. */
export interface EnvironmentSize {
  readonly secrets: number;
  readonly bytes: number;
}

/** Whether a change adds anything: one that does not may shrink what has grown too large. */
export function isGrowth({ secrets, bytes }: EnvironmentSize): boolean {
  return secrets > 0 || bytes > 0;
}

/**
 * Throws DomainError quota_exceeded if an environment of this size may not grow by so much (docs/interface.md section
 * 8).
 */
export function checkQuota(size: EnvironmentSize, growth: EnvironmentSize): void {
  if (!isGrowth(growth)) return;
  if (size.secrets + growth.secrets > limits.secretsPerEnvironment) {
    throw new DomainError(
      'quota_exceeded',
      `an environment holds at most ${limits.secretsPerEnvironment} secrets; this one has ${size.secrets}. ` +
        'Delete some, or use another environment',
    );
  }
  if (size.bytes + growth.bytes > limits.environmentBytes) {
    throw new DomainError(
      'quota_exceeded',
      `the values of an environment are at most ${limits.environmentBytes} bytes; this one has ${size.bytes}. ` +
        'Delete some, or use another environment',
    );
  }
}
