import type { ReactNode } from 'react';
import { ChevronIcon } from './icons.tsx';

export interface OrganizationChoiceProps {
  readonly organization: string;
  /** By slug. */
  readonly organizations: readonly string[];
  readonly onChoose: (organization: string) => void;
}

/** The organization whose pages are shown. With a single one there is nothing to choose. */
export function OrganizationChoice({ organization, organizations, onChoose }: OrganizationChoiceProps): ReactNode {
  if (organizations.length < 2) return <span className="organization">{organization}</span>;
  return (
    <span className="organization organization-choice">
      <select aria-label="Organization" value={organization} onChange={(event) => onChoose(event.target.value)}>
        {organizations.map((slug) => (
          <option key={slug}>{slug}</option>
        ))}
      </select>
      <ChevronIcon />
    </span>
  );
}
