import { DomainError } from '../../domain/errors/domain-error.ts';
import { shownName } from '../../wire/shown-name.ts';

/**
 * The names and values of a URL's query. A name that stands twice is refused: which of the two was meant?
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
      throw new DomainError('invalid_input', `${field}: is given twice`, {
        fields: [{ field, message: 'is given twice' }],
      });
    }
    values.set(name, value);
  }
  return Object.fromEntries(values);
}
