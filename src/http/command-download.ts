import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { DomainError } from '../domain/errors/domain-error.ts';
import { entityTag, isKnownTag } from './response/entity-tag.ts';
import { methodNotAllowed, noteRoute } from './router.ts';

interface Download {
  readonly program: Buffer;
  /** The SHA-256 of the program, in hexadecimal digits. */
  readonly digest: string;
}

/**
 * GET /cli: the `keyframe` command of this release as one file, and GET /cli.sha256: its checksum in the form that
 * `sha256sum --check` takes. Both are open to everyone, as the sources are. Clients keep them but ask each time whether they
 * are current, so an upgrade of the server is seen at once.
 *
 * @param file the built command; without one, and if it is absent, both paths are not found
 */
export function commandRouter(file: string | undefined): Router {
  const router = Router({ caseSensitive: true, strict: true });
  let download: Promise<Download> | undefined;
  const current = (): Promise<Download> => {
    // A failure is not kept: the file may be built later.
    download ??= readDownload(file).catch((error: unknown) => {
      download = undefined;
      throw error;
    });
    return download;
  };
  const serve = (path: string, handler: RequestHandler): void => {
    const only = methodNotAllowed(['GET']);
    router.route(path).all(noteRoute(path)).get(handler).all(only);
  };
  serve('/cli', async (request, response) => {
    const { program, digest } = await current();
    response.setHeader('Content-Type', 'application/octet-stream');
    // No browser should run or show it.
    response.setHeader('Content-Disposition', 'attachment; filename="keyframe"');
    send(request, response, { body: program, digest });
  });
  serve('/cli.sha256', async (request, response) => {
    const { digest } = await current();
    response.setHeader('Content-Type', 'text/plain; charset=utf-8');
    send(request, response, { body: Buffer.from(`${digest}  keyframe\n`), digest });
  });
  return router;
}

function send(
  request: Request,
  response: Response,
  { body, digest }: { readonly body: Buffer; readonly digest: string },
): void {
  const tag = entityTag(digest);
  response.setHeader('Cache-Control', 'no-cache');
  response.setHeader('ETag', tag);
  response.statusCode = isKnownTag(request.get('If-None-Match'), tag) ? 304 : 200;
  if (response.statusCode === 304) response.end();
  else response.setHeader('Content-Length', body.length).end(body);
}

async function readDownload(file: string | undefined): Promise<Download> {
  if (file === undefined) throw absent();
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? absent() : error;
  });
  // The image's copy names the Node.js of the image.
  const program = Buffer.from(text.replace(/^#!.*/, '#!/usr/bin/env node'));
  return { program, digest: createHash('sha256').update(program).digest('hex') };
}

function absent(): DomainError {
  return new DomainError('not_found', 'this server was built without the command; `npm run build` builds both');
}
