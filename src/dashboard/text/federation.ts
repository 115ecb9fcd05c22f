import type { FederationView } from '../../wire/federation.ts';
import { type IssuerPreset, type NeededClaim, sufficientClaims } from '../../wire/issuer-presets.ts';
import type { InvalidField } from './invalid-fields.ts';

/** Claims that a form collects. */
export interface ClaimsDraft {
  /** Which of the sufficient sets of the preset is filled in. */
  readonly set: number;
  /** The typed values of its claims by name, one in each line. */
  readonly values: Readonly<Record<string, string>>;
  readonly further: readonly FurtherClaim[];
}

/** A claim that the preset does not need. */
export interface FurtherClaim {
  readonly id: string;
  readonly name: string;
  readonly values: string;
}

export const noClaims: ClaimsDraft = { set: 0, values: {}, further: [] };

/** The claims that a draft must fill in. */
export function neededClaims(preset: IssuerPreset, { set }: Pick<ClaimsDraft, 'set'>): readonly NeededClaim[] {
  return sufficientClaims(preset)[set] ?? [];
}

/** The typed values of a needed claim. One that may have a single value has it at first. */
export function typedValues({ values }: ClaimsDraft, { name, is }: NeededClaim): string {
  return values[name] ?? is ?? '';
}

/** The claims of a draft with their values. A claim without a name or value is left out. */
export function claimsOf(draft: ClaimsDraft, preset: IssuerPreset): Record<string, string[]> {
  const claims = new Map<string, string[]>();
  const add = (name: string, text: string): void => {
    const values = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
    if (name !== '' && values.length > 0) claims.set(name, [...(claims.get(name) ?? []), ...values]);
  };
  for (const needed of neededClaims(preset, draft)) add(needed.name, typedValues(draft, needed));
  for (const { name, values } of draft.further) add(name.trim(), values);
  return Object.fromEntries(claims);
}

/** What is missing in a draft, by the field of the request. */
export function missingClaims(draft: ClaimsDraft, preset: IssuerPreset): readonly InvalidField[] {
  const claims = claimsOf(draft, preset);
  return neededClaims(preset, draft).flatMap(({ name }) =>
    Object.hasOwn(claims, name)
      ? []
      : [{ field: claimField(name), message: 'Give at least one value, each in a line of its own.' }],
  );
}

/** The field of a request that has the values of a claim. */
export function claimField(name: string): string {
  return `federation.claims.${name}`;
}

/** How a workload gets JWTs that prove a token. */
export interface Usage {
  readonly text: string;
  /** What to put into the definition of the job or the pod. */
  readonly lines?: string;
}

/** @param preset of the issuer; undefined if it is not known */
export function usageOf({ audience }: Pick<FederationView, 'audience'>, preset: IssuerPreset | undefined): Usage {
  switch (preset) {
    case 'github':
      return {
        text: 'Add this to the job of GitHub Actions. The command then asks the runner for a JWT.',
        lines: `permissions:\n  id-token: write\nenv:\n  KEYFRAME_AUDIENCE: ${audience}`,
      };
    case 'gitlab':
      return {
        text: 'Add this to the job of GitLab. The command takes the JWT from the variable.',
        lines: `id_tokens:\n  KEYFRAME_TOKEN:\n    aud: ${audience}`,
      };
    case 'kubernetes':
      return {
        text: 'Add this volume to the pod, mount it, and set KEYFRAME_TOKEN_FILE to the path of the file “token” in it.',
        lines: `volumes:\n  - name: keyframe\n    projected:\n      sources:\n        - serviceAccountToken:\n            audience: ${audience}\n            path: token`,
      };
    default:
      return {
        text: 'Let the workload request a JWT of the issuer whose only audience is this one. The command takes it from KEYFRAME_TOKEN, or from the file that KEYFRAME_TOKEN_FILE names.',
      };
  }
}
