import { describe, expect, test } from '@jest/globals';
import { audienceOf, type AudienceTarget, isTokenAudience, readAudience } from '../../../src/domain/audience.ts';

const instance = 'abcdefghijklmnopqrstuvwx27';
const id = '0d4c1bd7-3f0c-4a0e-9a55-1d9a1f9d2a11';
const token: AudienceTarget = { type: 'service_token', id };
const cluster: AudienceTarget = { type: 'cluster', cluster: 'fra-1' };
const resource: AudienceTarget = { type: 'resource', cluster: 'fra-1', namespace: 'shop', name: 'ci.deploy' };

describe('an audience', () => {
  test.each([
    [token, `keyframe/${instance}/service-tokens/${id}`],
    [cluster, `keyframe/${instance}/clusters/fra-1`],
    [resource, `keyframe/${instance}/clusters/fra-1/shop/ci.deploy`],
  ])('of %j is %s', (target, audience) => {
    expect(audienceOf(instance, target)).toBe(audience);
    expect(readAudience(audience)).toEqual({ instance, target });
    expect(isTokenAudience(audience)).toBe(target !== cluster);
  });

  test.each([
    '',
    'keyframe',
    `keyframe/${instance}`,
    `keyframe/${instance}/service-tokens`,
    `keyframe/${instance}/service-tokens/`,
    `keyframe/${instance}/service-tokens/${id}/`,
    `keyframe/${instance}/service-tokens/${id.toUpperCase()}`,
    `keyframe/${instance}/service-tokens/${id}\n`,
    `keyframe/${instance}/personal-tokens/${id}`,
    `keyframe/${instance.toUpperCase()}/service-tokens/${id}`,
    `keyframe/${instance}a/service-tokens/${id}`,
    `keyframe//service-tokens/${id}`,
    `/keyframe/${instance}/service-tokens/${id}`,
    `https://keyframe/${instance}/service-tokens/${id}`,
    `keyframe/${instance}/clusters/fra-1/shop`,
    `keyframe/${instance}/clusters/fra-1/`,
    `keyframe/${instance}/clusters/`,
    `keyframe/${instance}/clusters//shop/ci`,
    `keyframe/${instance}/clusters/fra-1/Shop/ci`,
    `keyframe/${instance}/clusters/fra-1/shop/ci/more`,
    'https://github.com/acme',
  ])('is not %j', (text) => expect(readAudience(text)).toBeUndefined());
});
