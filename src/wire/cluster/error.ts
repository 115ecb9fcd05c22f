import { z } from 'zod';
import { type ErrorCode, errorCatalogue } from '../../domain/errors/catalogue.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';

const wireError = z.object({
  code: z.string(),
  detail: z.string(),
  fields: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  retryAfterSeconds: z.int().optional(),
});

/** An error of the services: all that the controller takes from it. A newer server may send a code that is not known here. */
export const domainError = z.codec(wireError, z.instanceof(DomainError), {
  decode: ({ code, detail, fields = [], retryAfterSeconds }) =>
    new DomainError(isCode(code) ? code : 'internal', detail, {
      fields,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    }),
  encode: ({ code, detail, fields, retryAfterSeconds }) => ({
    code,
    detail,
    ...(fields.length === 0 ? {} : { fields: fields.map(({ field, message }) => ({ field, message })) }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  }),
});

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}
