import { createHash } from 'node:crypto';

/** The pages that a browser sees between an issuer of OpenID Connect and this server. */

// The colors of the dashboard.
const style = `:root { color-scheme: light dark; }
body { font: 0.875rem/1.5 system-ui, sans-serif; max-width: 26rem; margin: 20vh auto 0; padding: 0 1rem;
  background: light-dark(#fbfbfc, #0b0c0f); color: light-dark(#14161b, #edeef1); }
h1 { font-size: 1.5rem; letter-spacing: -0.02em; }
a { color: light-dark(#3e57e8, #8fa1ff); }
code { color: light-dark(#5a6170, #9aa1af); font-size: 0.8125rem; }`;

const digest = createHash('sha256').update(style).digest('base64');

/** The policy of both pages. It allows nothing but their style. */
export const signInPagePolicy = `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

function page({ head = '', body }: { readonly head?: string; readonly body: string }): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Keyframe: sign-in</title>
    <meta name="color-scheme" content="light dark" />
    <style>${style}</style>${head}
  </head>
  <body>
    <main>
${body}
    </main>
  </body>
</html>
`;
}

/**
 * The page after a sign-in, which goes on to `path`. It is not a redirect: the navigation began at the issuer, another
 * site, and a browser sends a cookie with SameSite=Strict with none of the requests of such a navigation, also after
 * redirects. The navigation from this page begins at this server, so it has the cookie and `Sec-Fetch-Site: same-origin`.
 */
export function onwardPage(path: string): string {
  const target = escaped(path);
  return page({
    head: `\n    <meta http-equiv="refresh" content="0; url=${target}" />`,
    body: `    <p>You are signed in. <a href="${target}">Continue</a></p>`,
  });
}

/** The page of a refused sign-in. */
export function refusalPage({ fault, detail }: { readonly fault: string; readonly detail: string }): string {
  return page({
    body: `    <h1>You are not signed in</h1>
    <p>${escaped(detail)}</p>
    <p><a href="/">Back to Keyframe</a></p>
    <p><code>${escaped(fault)}</code></p>`,
  });
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}
