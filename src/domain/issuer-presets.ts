/**
 * Which claims must be checked, so that a JWT of an issuer proves one job or workload and no other one (docs/federation.md).
 * Names of repositories, projects and accounts are given to others after a deletion, so their ids are required.
 */

export const issuerPresets = ['github', 'gitlab', 'kubernetes', 'none'] as const;
export type IssuerPreset = (typeof issuerPresets)[number];

/** The values that are allowed for each claim. */
export type RequiredClaims = Readonly<Record<string, readonly string[]>>;

export interface NeededClaim {
  readonly name: string;
  /** The only value that it may have. */
  readonly is?: string;
  /** A value that it must not have. */
  readonly isNot?: string;
}

const isTrue = 'true';

/** Of each preset the sets of claims of which one must be checked. */
const enough: Readonly<Record<IssuerPreset, readonly (readonly NeededClaim[])[]>> = {
  github: [
    [{ name: 'repository_id' }, { name: 'environment' }],
    // A workflow of pull_request_target runs with the ref of the base, for a pull request of anyone.
    [{ name: 'repository_id' }, { name: 'ref' }, { name: 'event_name', isNot: 'pull_request_target' }],
  ],
  gitlab: [
    [{ name: 'project_id' }, { name: 'ref' }, { name: 'ref_type' }, { name: 'ref_protected', is: isTrue }],
    // Each job may name an environment that is not protected.
    [{ name: 'project_id' }, { name: 'environment' }, { name: 'environment_protected', is: isTrue }],
  ],
  kubernetes: [[{ name: 'sub' }]],
  none: [[{ name: 'sub' }]],
};

/** The claim that every set of a preset has, if others could get the name that it stands for. */
const idClaims: Readonly<Partial<Record<IssuerPreset, { readonly claim: string; readonly thing: string }>>> = {
  github: { claim: 'repository_id', thing: 'repository' },
  gitlab: { claim: 'project_id', thing: 'project' },
};

/** Why claims are not enough with a preset, as a sentence without a value; undefined if they are. */
export function presetFault(preset: IssuerPreset, claims: RequiredClaims): string | undefined {
  const id = idClaims[preset];
  const isNumber = (value: string): boolean => /^[0-9]+$/.test(value);
  if (id !== undefined && !valuesOf(claims, id.claim).every(isNumber)) {
    return `must have the number of the ${id.thing} in ${id.claim}, such as 123456, and not its name`;
  }
  if (enough[preset].some((set) => set.every((needed) => isChecked(needed, claims)))) return undefined;
  const isMissing = id !== undefined && valuesOf(claims, id.claim).length === 0;
  const why = isMissing
    ? `; ${id.claim} is missing, and after a rename or deletion others can take the name of the ${id.thing}, also in sub`
    : '';
  return `must include ${presetText(preset)}, because the issuer has the preset ${preset}${why}`;
}

/** The sets of claims of a preset of which one must be checked. */
export function sufficientClaims(preset: IssuerPreset): readonly (readonly NeededClaim[])[] {
  return enough[preset];
}

/** The claims that are enough with a preset, such as `repository_id and environment`. */
export function presetText(preset: IssuerPreset): string {
  return enough[preset].map((set) => andText(set.map(neededText))).join(', or ');
}

function isChecked({ name, is, isNot }: NeededClaim, claims: RequiredClaims): boolean {
  const values = valuesOf(claims, name);
  return values.length > 0 && values.every((value) => value !== isNot && (is === undefined || value === is));
}

function valuesOf(claims: RequiredClaims, name: string): readonly string[] {
  return Object.hasOwn(claims, name) ? (claims[name] ?? []) : [];
}

function neededText({ name, is, isNot }: NeededClaim): string {
  if (is !== undefined) return `${name} = ${is}`;
  return isNot === undefined ? name : `${name} other than ${isNot}`;
}

function andText(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}
