/** The form of audiences, for the command, which must not import the domain. */
export { isTokenAudience, readAudience } from '../domain/audience.ts';
