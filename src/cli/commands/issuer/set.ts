import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { durationOption } from '../../core/duration-option.ts';
import { choice, completing, repeated, text } from '../../core/options.ts';
import { algorithms, issuerBody, presets } from './issuer-content.ts';
import { findIssuerIfAny, issuerArgument, issuerFields, refuseClusterIssuer, usageText } from './issuer-view.ts';

/** `issuer set <issuer>`, for administrators of the server. */
export const issuerSetCommand = defineCommand({
  summary: 'Trust an issuer, or change what it is',
  description:
    'Its JWTs can then prove the service tokens that name it. What is not given stays as it is. For a new issuer with the preset github or gitlab, the default is that of github.com or gitlab.com. Another iss, URL, key, algorithm or authority gives the issuer a new generation: in organizations that forbid impersonation, its tokens wait until an admin accepts it. After a restore from a backup, the command without options enables the issuer again. Asks before it changes an issuer. For administrators of the server.',
  arguments: { issuer: issuerArgument },
  options: {
    preset: choice('--preset <preset>', 'Which claims a service token must check', presets),
    iss: text('--iss <text>', 'The claim iss of its JWTs, to the byte'),
    jwksUrl: text('--jwks-url <url>', 'Where it publishes its keys; https, at a public address'),
    jwksFile: completing(
      'file',
      text('--jwks <file>', 'A JWK Set with its public keys, if the server cannot reach it'),
    ),
    algorithm: repeated(
      '--algorithm <name>',
      `Allows only JWTs signed with it: ${algorithms.join(', ')}; can be given several times`,
      'those of the keys; with --jwks-url RS256 for github and gitlab, else all',
    ),
    caFile: completing(
      'file',
      text('--ca <file>', 'The authorities of the server of --jwks-url, in PEM, if they are not public ones'),
    ),
    maxAge: durationOption('--max-age <duration>', 'Longest lifetime of its JWTs, at most 24h (default: 24h)', '24h'),
  },
  examples: [
    { line: 'issuer set github --preset github', note: 'GitHub Actions of github.com' },
    { line: 'issuer set gitlab --preset gitlab --max-age 1h', note: 'GitLab CI of gitlab.com, with a limit' },
    {
      line: 'issuer set fra --preset kubernetes --iss https://kubernetes.default.svc --jwks fra-keys.json',
      note: 'A cluster that the server cannot reach',
    },
  ],
  async run(context, { args: { issuer: name }, options }) {
    const api = context.api();
    const before = await findIssuerIfAny(api, name);
    if (before !== undefined) refuseClusterIssuer(before, 'Choose another name for another issuer');
    const body = issuerBody(context, options, before);
    if (before !== undefined) {
      await context.confirm(`Change trusted issuer ${name}, which proves ${usageText(before)}?`);
    }
    const { body: value } = await call(api, 'PUT /trusted-issuers/{name}', { params: { name }, body });
    await context.printer.object({ value, fields: issuerFields(value), name: value.name });
  },
});
