const personalPrefix = 'kf_pat_';
const servicePrefix = 'kf_svc_';

/** What is wrong with a text as a personal token, as a sentence that does not contain it; undefined if it may be one. */
export function tokenFault(text: string): string | undefined {
  if (text === '') return 'Paste a personal token.';
  if (text.startsWith(servicePrefix)) {
    return `This is a service token, which is for machines. Sign in with a personal token, which begins with ${personalPrefix}.`;
  }
  if (!text.startsWith(personalPrefix)) return `This is not a personal token: those begin with ${personalPrefix}.`;
  if (/[^\w]/.test(text)) return 'Paste the token alone, with nothing before or after it.';
  return undefined;
}
