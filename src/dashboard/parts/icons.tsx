import type { ReactNode } from 'react';

/** The symbols of the dashboard, 16 by 16 pixels. They are decoration: the text beside them says the same. */

function Icon({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}

export function Diamond(): ReactNode {
  return (
    <svg className="diamond" viewBox="0 0 32 32" width="22" height="22" aria-hidden="true" focusable="false">
      <path d="M14.6 2.6a2 2 0 0 1 2.8 0l12 12a2 2 0 0 1 0 2.8l-12 12a2 2 0 0 1-2.8 0l-12-12a2 2 0 0 1 0-2.8z" />
    </svg>
  );
}

export function CopyIcon(): ReactNode {
  return (
    <Icon>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.75" />
      <path d="M10.5 5.5v-1.25A1.75 1.75 0 0 0 8.75 2.5h-4.5A1.75 1.75 0 0 0 2.5 4.25v4.5c0 .97.78 1.75 1.75 1.75H5.5" />
    </Icon>
  );
}

export function CheckIcon(): ReactNode {
  return (
    <Icon>
      <path d="m3 8.5 3.25 3.25L13 4.75" />
    </Icon>
  );
}

export function AlertIcon(): ReactNode {
  return (
    <Icon>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 5v3.5M8 11v.01" />
    </Icon>
  );
}

export function KeyIcon(): ReactNode {
  return (
    <Icon>
      <circle cx="5.25" cy="8" r="3" />
      <path d="M8.25 8h5.5v2.5M11.25 8v1.75" />
    </Icon>
  );
}

export function ComputerIcon(): ReactNode {
  return (
    <Icon>
      <rect x="2" y="3" width="12" height="8" rx="1.5" />
      <path d="M5.5 13.5h5" />
    </Icon>
  );
}

export function PhoneIcon(): ReactNode {
  return (
    <Icon>
      <rect x="4.5" y="1.75" width="7" height="12.5" rx="1.75" />
      <path d="M7.25 12h1.5" />
    </Icon>
  );
}

export function ChevronIcon(): ReactNode {
  return (
    <Icon>
      <path d="m4.5 6.5 3.5 3.5 3.5-3.5" />
    </Icon>
  );
}

export function CloseIcon(): ReactNode {
  return (
    <Icon>
      <path d="m4 4 8 8M12 4l-8 8" />
    </Icon>
  );
}

export function EyeIcon(): ReactNode {
  return (
    <Icon>
      <path d="M1.75 8S4 3.75 8 3.75 14.25 8 14.25 8 12 12.25 8 12.25 1.75 8 1.75 8Z" />
      <circle cx="8" cy="8" r="1.75" />
    </Icon>
  );
}

export function EyeOffIcon(): ReactNode {
  return (
    <Icon>
      <path d="M6.4 4A6.3 6.3 0 0 1 8 3.75C12 3.75 14.25 8 14.25 8a11 11 0 0 1-1.6 2.1M4 5.4A10.6 10.6 0 0 0 1.75 8S4 12.25 8 12.25c1 0 1.9-.27 2.7-.67M2.5 2.5l11 11" />
    </Icon>
  );
}
