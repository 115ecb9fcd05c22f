import { DomainError } from '../../domain/errors/domain-error.ts';
import { shownName } from '../../wire/shown-name.ts';

/**
 * Reads the names and values of a URL's query. A repeated name is refused, because it is unclear which value counts.
 *
 * @throws DomainError invalid_input
 */
export function readQuery(url: string): Record<string, string> {
  const start = url.indexOf('?');
  const values = new Map<string, string>();
  if (start === -1) return {};
  for (const [name, value] of new URLSearchParams(url.slice(start + 1))) {
    if (values.has(name)) {
      const field = shownName(name);
      throw new DomainError('invalid_input', `${field}: must be given once`, {
        fields: [{ field, message: 'must be given once' }],
      });
    }
    values.set(name, value);
  }
  return Object.fromEntries(values);
}
