import { createSecureContext } from 'node:tls';
import { errorFields } from '../observability/logger.ts';
import { holdsCertificates } from './certificates.ts';
import type { ConfigSource } from './source.ts';

const parameters = ['sslrootcert', 'sslcert', 'sslkey'] as const;
type Parameter = (typeof parameters)[number];

/**
 * What prevents the use of the files that an address of PostgreSQL names. With `hasAuthorities`, the authorities come
 * from elsewhere. No fault repeats a path or a content.
 */
export function addressFileFaults(
  address: string,
  { source, hasAuthorities }: { readonly source: ConfigSource; readonly hasAuthorities: boolean },
): string[] {
  const { searchParams } = new URL(address);
  const faults: string[] = [];
  const texts = new Map<Parameter, string>();
  for (const parameter of parameters) {
    const path = searchParams.get(parameter) ?? '';
    if (path === '' || (parameter === 'sslrootcert' && hasAuthorities)) continue;
    try {
      texts.set(parameter, source.readTextFile(path));
    } catch (error) {
      const code = String(errorFields(error)['code']);
      faults.push(
        `names a file in ${parameter} that cannot be read (${code}): mount the file there, or leave ${parameter} out`,
      );
    }
  }
  return [...faults, ...contentFaults(texts)];
}

function contentFaults(texts: ReadonlyMap<Parameter, string>): string[] {
  const faults: string[] = [];
  const [authorities, cert, key] = parameters.map((parameter) => texts.get(parameter));
  if (authorities !== undefined && !holdsCertificates(authorities)) {
    faults.push(
      "names a file in sslrootcert without a valid certificate in PEM; it needs those of the authorities that sign PostgreSQL's",
    );
  }
  if (cert !== undefined && key !== undefined && !areUsable(cert, key)) {
    faults.push(
      'names files in sslcert and sslkey that are no certificate and its key: both must be PEM, the key without a password',
    );
  }
  return faults;
}

function areUsable(cert: string, key: string): boolean {
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    return false;
  }
}
