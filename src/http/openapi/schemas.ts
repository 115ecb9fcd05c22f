import type { ZodOpenApiOverride } from 'zod-openapi';

/** Removes keywords that only zod needs from the schemas of responses: a pattern beside `format`, and default bounds of numbers. */
export const withoutNoise: ZodOpenApiOverride = ({ jsonSchema, io }) => {
  if (io !== 'output') return;
  if (jsonSchema.format === 'uuid' || jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
};
