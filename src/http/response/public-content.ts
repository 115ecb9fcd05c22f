import type { Request, Response } from 'express';
import type { RateLimits } from '../admission/rate-limits.ts';
import { sourceAddress } from '../admission/source-address.ts';
import type { WorkLimit } from '../admission/work-limit.ts';
import { sendContent, type SendOptions } from './send-response.ts';

/** Sends content that needs no token, such as the dashboard. The headers but Content-Length are set before. */
export type SendPublic = (request: Request, response: Response, content: Buffer) => Promise<void>;

/**
 * The only sender of public content. All responses share one buffer for each content, and write it in pieces. So readers
 * cost little memory, however slow they are. A reader that reads nothing loses its place to others.
 */
export function publicContentSender({
  rateLimits,
  workLimit,
  ...patience
}: {
  readonly rateLimits: Pick<RateLimits, 'countPublic'>;
  readonly workLimit: WorkLimit;
} & Pick<SendOptions, 'stallTimeoutMs'>): SendPublic {
  return (request, response, content) =>
    workLimit.during(response, async (work) => {
      const address = sourceAddress(request) ?? '';
      work.isFrom(address);
      await rateLimits.countPublic(address);
      await sendContent(response, [content], { ...patience, work });
    });
}
