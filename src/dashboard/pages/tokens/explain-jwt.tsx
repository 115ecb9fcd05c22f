import { type ComponentProps, type ReactNode, useId, useRef, useState } from 'react';
import type { JwtExplanationView } from '../../../wire/federation.ts';
import { ApiError } from '../../api/client.ts';
import { explainJwt, type ListedToken } from '../../api/service-tokens.ts';
import { Button } from '../../parts/button.tsx';
import { FieldFault } from '../../parts/form/field-fault.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Refusal } from '../../parts/refusal.tsx';
import { Status, type Tone } from '../../parts/status.tsx';
import { sentence } from '../../text/sentence.ts';

/** Explains JWTs for a federated token, for admins of the organization. Nothing for other tokens and users. */
export function ExplainJwt({ token }: { readonly token: ListedToken }): ReactNode {
  if (token.federation === undefined || token.home.project !== undefined) return undefined;
  return <ExplainForm organization={token.home.org} id={token.id} />;
}

interface ExplainFormProps {
  readonly organization: string;
  readonly id: string;
}

/**
 * Asks the server why it refuses a JWT. Its text is in the field only until it is sent: in no state, cache or address of
 * the page.
 */
function ExplainForm({ organization, id }: ExplainFormProps): ReactNode {
  const fieldId = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string>();
  const [error, setError] = useState<ApiError | null>(null);
  const [found, setFound] = useState<JwtExplanationView>();
  const ask = async (jwt: string): Promise<void> => {
    setBusy(true);
    try {
      setFound(await explainJwt(organization, id, jwt));
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      setError(refusal);
    } finally {
      setBusy(false);
    }
  };
  const submit: ComponentProps<'form'>['onSubmit'] = (event) => {
    event.preventDefault();
    if (isBusy || field.current === null) return;
    const jwt = field.current.value.trim();
    field.current.value = '';
    setFault(jwt === '' ? 'Paste a JWT.' : undefined);
    setError(null);
    setFound(undefined);
    if (jwt !== '') void ask(jwt);
  };
  return (
    <section className="drawer-section">
      <h3>Explain a JWT</h3>
      <p className="muted">Says why the server refuses a JWT. It is sent once, and stored nowhere.</p>
      <form className="form" onSubmit={submit} noValidate>
        <div className="field">
          <label htmlFor={fieldId}>JWT</label>
          <textarea
            ref={field}
            id={fieldId}
            className="input mono lines-field"
            rows={3}
            autoComplete="off"
            autoCapitalize="off"
            autoCorrect="off"
            spellCheck={false}
            aria-invalid={fault !== undefined}
            aria-describedby={`${fieldId}-fault`}
          />
          <FieldFault id={`${fieldId}-fault`}>{fault}</FieldFault>
        </div>
        <div>
          <Button type="submit" busy={isBusy}>
            Explain
          </Button>
        </div>
      </form>
      <Refusal error={error} />
      {found === undefined ? undefined : <Explanation {...found} />}
    </section>
  );
}

type Check = JwtExplanationView['checks'][number];

const checkNames: Readonly<Record<Check['check'], string>> = {
  form: 'It is a JWT',
  header: 'Header',
  audience: 'Audience of Keyframe',
  token: 'Audience of this token',
  key: 'Key of the issuer',
  signature: 'Signature',
  issuer: 'Issuer',
  times: 'Times',
  claims: 'Claims',
  credential: 'The token works',
};

const outcomes: Readonly<Record<Check['outcome'], readonly [tone: Tone, word: string]>> = {
  passed: ['good', 'Passed'],
  failed: ['danger', 'Failed'],
  not_checked: ['neutral', 'Not checked'],
};

function Explanation({ isProven, checks }: JwtExplanationView): ReactNode {
  const isAccepted = checks.every(({ outcome }) => outcome === 'passed');
  return (
    <>
      <Notice kind={isAccepted ? 'done' : 'error'}>
        {isAccepted
          ? 'The server accepts the JWT.'
          : isProven
            ? 'The JWT proves the token, but the token does not work.'
            : 'The server refuses the JWT.'}
      </Notice>
      <ol className="fact-lines" aria-label="Checks">
        {checks.map(({ check, outcome, detail }) => {
          const [tone, word] = outcomes[outcome];
          return (
            <li key={check}>
              <span className="check-line">
                {checkNames[check]} <Status tone={tone}>{word}</Status>
              </span>
              {detail === null ? undefined : <span className="muted">{sentence(detail)}</span>}
            </li>
          );
        })}
      </ol>
    </>
  );
}
