import { browserSupportsWebAuthn } from '@simplewebauthn/browser';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useNavigate } from 'react-router';
import { ApiError } from '../../api/client.ts';
import { meQuery } from '../../api/me.ts';
import { signInWithPasskey } from '../../api/passkeys.ts';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/notice.tsx';
import type { WayProps } from './way.ts';

/** Signs in with a passkey. The browser shows those that it has for this host. */
export function PasskeyWay({ method, returnTo }: WayProps): ReactNode {
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  if (method.type !== 'passkey' || !browserSupportsWebAuthn()) return undefined;
  if (window.location.origin !== method.origin) {
    return (
      <p className="muted small">
        Passkeys work at <a href={`${method.origin}/sign-in`}>{method.origin}</a>.
      </p>
    );
  }

  const begin = async (): Promise<void> => {
    setFault(undefined);
    setBusy(true);
    try {
      const user = await signInWithPasskey();
      client.clear();
      client.setQueryData(meQuery.queryKey, user);
      await navigate(returnTo, { replace: true });
    } catch (error) {
      setFault(error instanceof ApiError ? error.message : 'The sign-in failed. Try again.');
      setBusy(false);
    }
  };

  return (
    <section className="sign-in-way">
      <Button busy={busy} onClick={() => void begin()}>
        {busy ? 'Waiting for the passkey…' : 'Use a passkey'}
      </Button>
      {fault === undefined ? undefined : <Notice>{fault}</Notice>}
    </section>
  );
}
