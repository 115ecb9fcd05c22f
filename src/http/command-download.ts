import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Request, type Response, Router } from 'express';
import { DomainError } from '../domain/errors/domain-error.ts';
import { entityTag, isKnownTag } from './response/entity-tag.ts';
import type { SendPublic } from './response/public-content.ts';
import { serveGet } from './router.ts';

interface Download {
  readonly program: Buffer;
  /** The SHA-256 of the program, in hexadecimal digits. */
  readonly digest: string;
}

/**
 * GET /cli returns the `keyframe` command of this release as one file. GET /cli.sha256 returns its checksum in the format
 * of `sha256sum --check`. Both are public, as the sources are. Clients may cache them but must revalidate each time, so
 * that they notice an upgrade of the server at once.
 *
 * @param file the built command; if it is undefined or does not exist, both paths return 404
 */
export function commandRouter(file: string | undefined, sendPublic: SendPublic): Router {
  const router = Router({ caseSensitive: true, strict: true });
  let download: Promise<Download> | undefined;
  const current = (): Promise<Download> => {
    // A failure is not cached: the file may be built later.
    download ??= readDownload(file).catch((error: unknown) => {
      download = undefined;
      throw error;
    });
    return download;
  };
  serveGet(router, '/cli', async (request, response) => {
    const { program, digest } = await current();
    response.setHeader('Content-Type', 'application/octet-stream');
    // Browsers must download it and not show it.
    response.setHeader('Content-Disposition', 'attachment; filename="keyframe"');
    await send(request, response, { body: program, digest, sendPublic });
  });
  serveGet(router, '/cli.sha256', async (request, response) => {
    const { digest } = await current();
    response.setHeader('Content-Type', 'text/plain; charset=utf-8');
    await send(request, response, { body: Buffer.from(`${digest}  keyframe\n`), digest, sendPublic });
  });
  return router;
}

async function send(
  request: Request,
  response: Response,
  { body, digest, sendPublic }: { readonly body: Buffer; readonly digest: string; readonly sendPublic: SendPublic },
): Promise<void> {
  const tag = entityTag(digest);
  response.setHeader('Cache-Control', 'no-cache');
  response.setHeader('ETag', tag);
  response.statusCode = isKnownTag(request.get('If-None-Match'), tag) ? 304 : 200;
  if (response.statusCode === 304) response.end();
  else await sendPublic(request, response, body);
}

async function readDownload(file: string | undefined): Promise<Download> {
  if (file === undefined) throw absent();
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? absent() : error;
  });
  // The copy in the image names the Node.js of the image.
  const program = Buffer.from(text.replace(/^#!.*/, '#!/usr/bin/env node'));
  return { program, digest: createHash('sha256').update(program).digest('hex') };
}

function absent(): DomainError {
  return new DomainError('not_found', 'this server was built without the command; run `npm run build`');
}
