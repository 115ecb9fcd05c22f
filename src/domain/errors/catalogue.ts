import { controllerErrors } from './controller-errors.ts';
import type { ErrorDescription } from './description.ts';
import { httpErrors } from './http-errors.ts';

/** Codes that HTTP can return. */
export type HttpErrorCode = keyof typeof httpErrors;

export type ErrorCode = HttpErrorCode | keyof typeof controllerErrors;

/**
 * Every error that Keyframe reports: its HTTP status, the reason of the condition, and what the controller does next.
 * HTTP, the controller and docs/errors.md read this one catalogue, so they cannot differ.
 */
export const errorCatalogue: Readonly<Record<ErrorCode, ErrorDescription>> = { ...httpErrors, ...controllerErrors };
