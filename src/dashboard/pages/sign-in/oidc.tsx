import type { ReactNode } from 'react';
import type { WayProps } from './way.ts';

/** Leads to the issuer, which leads back to where the user goes after the sign-in. */
export function OidcWay({ method, returnTo, again }: WayProps): ReactNode {
  if (method.type !== 'oidc') return undefined;
  // `fresh`: the issuer asks the user again, although it knows the browser.
  const query = new URLSearchParams({ returnTo, ...(again ? { fresh: '1' } : {}) });
  return (
    <section className="sign-in-way">
      <a className="button button-primary" href={`/sign-in/oidc?${query.toString()}`}>
        Sign in with {method.name}
      </a>
    </section>
  );
}
