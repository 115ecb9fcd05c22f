import { useQueryClient } from '@tanstack/react-query';
import { type ComponentProps, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { ApiError } from '../../api/client.ts';
import { meQuery } from '../../api/me.ts';
import { signIn } from '../../api/sessions.ts';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/notice.tsx';
import { tokenFault } from '../../text/token-fault.ts';
import type { WayProps } from './way.ts';

/**
 * Signs in with a personal token. The field is cleared as soon as its text is read, and the token is in no state of the page:
 * it is sent once, in a header, and forgotten.
 */
export function PersonalTokenWay({ returnTo }: WayProps): ReactNode {
  const field = useRef<HTMLInputElement>(null);
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  const ids = { field: useId(), help: useId(), fault: useId() };

  // It is the only field of the page.
  useEffect(() => {
    field.current?.focus();
  }, []);

  const submit: ComponentProps<'form'>['onSubmit'] = (event) => {
    event.preventDefault();
    if (busy || field.current === null) return;
    const text = field.current.value.trim();
    field.current.value = '';
    const found = tokenFault(text);
    setFault(found);
    // What is not a personal token never leaves the browser.
    if (found !== undefined) return field.current.focus();
    setBusy(true);
    void begin(text);
  };

  const begin = async (token: string): Promise<void> => {
    try {
      const user = await signIn(token);
      client.clear();
      client.setQueryData(meQuery.queryKey, user);
      await navigate(returnTo, { replace: true });
    } catch (error) {
      setFault(error instanceof ApiError ? messageOf(error) : 'The sign-in failed. Try again.');
      setBusy(false);
      field.current?.focus();
    }
  };

  return (
    <form className="sign-in-way" onSubmit={submit} noValidate>
      <div className="field">
        <label htmlFor={ids.field}>Personal token</label>
        <input
          ref={field}
          id={ids.field}
          type="password"
          className="input mono"
          placeholder="kf_pat_…"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          aria-describedby={`${ids.fault} ${ids.help}`}
          aria-invalid={fault !== undefined}
          required
        />
        <div id={ids.fault}>{fault === undefined ? undefined : <Notice>{fault}</Notice>}</div>
      </div>
      <Button look="primary" type="submit" busy={busy}>
        {busy ? 'Signing in…' : 'Sign in'}
      </Button>
      <p id={ids.help} className="muted small">
        Create one with <code>keyframe token create</code>, or ask an admin for your first one. The token is sent once
        and is not kept in the browser.
      </p>
    </form>
  );
}

function messageOf({ code, status, message }: ApiError): string {
  if (status === 401 && code === 'unauthenticated') return `${message} Paste another one.`;
  if (status === 429) return `Too many attempts. ${message}`;
  return message;
}
