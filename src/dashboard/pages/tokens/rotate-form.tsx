import { type ReactNode, useState } from 'react';
import { type ListedToken, useRotateToken } from '../../api/service-tokens.ts';
import { AskFirst } from '../../parts/ask-first.tsx';
import { ChoiceField } from '../../parts/form/choice-field.tsx';
import { NeedsRecentSignIn } from '../../parts/needs-recent-sign-in.tsx';
import { Refusal } from '../../parts/refusal.tsx';

export interface RotateFormProps {
  readonly organization: string;
  readonly token: ListedToken;
  readonly onRotated: (value: string, report: string) => void;
}

/** How long the former value stays valid, in seconds. */
const overlaps = [
  ['0', 'At once'],
  ['3600', 'In 1 hour'],
  ['86400', 'In 1 day'],
  ['604800', 'In 7 days'],
] as const;

/** Gives a token another value. */
export function RotateForm({ organization, token, onRotated }: RotateFormProps): ReactNode {
  const rotate = useRotateToken(organization);
  const [overlap, setOverlap] = useState<string>('3600');
  const isAtOnce = overlap === '0';
  const end = overlaps.find(([seconds]) => seconds === overlap)?.[1].toLowerCase() ?? '';
  return (
    <section className="drawer-section">
      <h3>Rotate</h3>
      <p className="muted">Gives it a new value. Its name, access and expiry stay.</p>
      <NeedsRecentSignIn>To rotate it</NeedsRecentSignIn>
      <Refusal error={rotate.error} />
      <div className="field-with-button">
        <ChoiceField label="The former value ends" value={overlap} options={overlaps} onChange={setOverlap} />
        <AskFirst
          label={`Rotate the token ${token.name}`}
          verb="Rotate"
          question={`Give ${token.name} a new value?`}
          detail={
            isAtOnce
              ? 'Whatever uses the former value is refused from the next request on, until it has the new one.'
              : `Whatever uses the former value needs the new one: the former value ends ${end}.`
          }
          busy={rotate.isPending}
          onConfirm={() =>
            rotate.mutate(
              { token, overlapSeconds: Number(overlap) },
              {
                onSuccess: ({ token: value }) => {
                  onRotated(value, `The token has a new value. The former one ends ${end}.`);
                  rotate.reset();
                },
              },
            )
          }
        />
      </div>
    </section>
  );
}
