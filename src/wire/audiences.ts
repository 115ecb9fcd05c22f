/** The form of audiences, for the command, which must not import the domain. */
export { readAudience } from '../domain/audience.ts';
