import type { ComponentProps, ReactNode } from 'react';

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'className' | 'disabled'> {
  readonly look?: 'primary' | 'plain' | 'danger' | 'quiet';
  /** While it works, it stays focusable and does nothing. */
  readonly busy?: boolean;
}

export function Button({ look = 'plain', busy = false, type = 'button', onClick, ...rest }: ButtonProps): ReactNode {
  return (
    <button
      {...rest}
      type={type}
      className={`button button-${look}`}
      aria-disabled={busy}
      onClick={(event) => (busy ? event.preventDefault() : onClick?.(event))}
    />
  );
}
