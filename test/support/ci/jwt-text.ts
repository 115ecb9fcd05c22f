import { randomBytes } from 'node:crypto';

/** The audience of a service token. */
export function audienceFor(id = '00000000-0000-4000-8000-000000000001', instance = 'a'.repeat(26)): string {
  return `keyframe/${instance}/service-tokens/${id}`;
}

export const testAudience = audienceFor();

/** The parts of a JWT as text. Its signature is random: only the command reads it. */
export function jwtText(claims: object = {}, { lifeSeconds = 300 }: { readonly lifeSeconds?: number } = {}): string {
  const now = Math.floor(Date.now() / 1000);
  const whole = {
    iss: 'https://issuer.test',
    aud: testAudience,
    sub: 'job',
    iat: now,
    exp: now + lifeSeconds,
    ...claims,
  };
  return `${encoded({ alg: 'ES256', typ: 'JWT', kid: '1' })}.${encoded(whole)}.${randomBytes(64).toString('base64url')}`;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
