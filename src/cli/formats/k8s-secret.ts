import { FormatError } from '../../wire/formats/format-error.ts';
import type { SecretTable } from '../../wire/formats/secret-table.ts';
import { yamlKey, yamlString } from './yaml.ts';

const subdomain = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
/** What Kubernetes takes for the data of one Secret. */
const maxBytes = 1024 * 1024;

export interface ManifestNames {
  readonly name: string;
  /** If it is undefined, the manifest has none, and kubectl uses its current namespace. */
  readonly namespace: string | undefined;
}

/**
 * Writes the manifest of a Kubernetes Secret (type Opaque), values in base64.
 *
 * @throws FormatError if Kubernetes would refuse the name, the namespace or the size.
 */
export function writeK8sSecret(secrets: SecretTable, { name, namespace }: ManifestNames): string {
  const rule = 'lower-case letters, digits, hyphens and dots, at most 253, beginning and ending with a letter or digit';
  if (!subdomain.test(name)) throw new FormatError(`a Secret's name must be of ${rule}`);
  if (namespace !== undefined && !/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace)) {
    throw new FormatError('a namespace must be of 1 to 63 lower-case letters, digits and hyphens');
  }
  const data = [...secrets].map(([key, value]) => [key, Buffer.from(value, 'utf8')] as const);
  const bytes = data.reduce((sum, [, value]) => sum + value.length, 0);
  if (bytes > maxBytes) {
    throw new FormatError(`the values come to ${bytes} bytes, and a Kubernetes Secret holds at most ${maxBytes}`);
  }
  const lines = [
    'apiVersion: v1',
    'kind: Secret',
    'metadata:',
    `  name: ${yamlString(name)}`,
    ...(namespace === undefined ? [] : [`  namespace: ${yamlString(namespace)}`]),
    'type: Opaque',
    data.length === 0 ? 'data: {}' : 'data:',
    ...data.map(([key, value]) => `  ${yamlKey(key)}: ${yamlString(value.toString('base64'))}`),
  ];
  return `${lines.join('\n')}\n`;
}
