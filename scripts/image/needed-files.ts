// Of Prisma's runtimes, the one and only that the generated client for PostgreSQL loads.
const prismaRuntime =
  /^@prisma\/client\/runtime\/(?!client\.m?js$|query_compiler_fast_bg\.postgresql\.(?:wasm-base64\.)?mjs$)/;
// Of the page's package, what is served at /docs.
const swaggerUi =
  /^swagger-ui-dist\/(?!package\.json$|LICENSE$|NOTICE$|swagger-ui\.css$|swagger-ui-bundle\.js(?:\.LICENSE\.txt)?$|favicon-32x32\.png$)/;
// For developers: source maps, types and sources; links to commands, npm's own records and settings of tools; tests, and the
// like at the top of a package. And machine code for another runtime (bare), beside JavaScript that Node.js runs.
const development = [
  /\.map$/,
  /\.[cm]?ts$/,
  /\.test\.[cm]?js$/,
  /(?:^|\/)\.[^/]+$/,
  /^(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^@/][^/]*\/(?:__tests__|bench|benchmarks?|coverage|docs?|examples?|prebuilds|tests?)$/,
];

/**
 * Whether a file or folder of node_modules, named from there, is needed in production. Licences always are.
 */
export function isNeeded(path: string): boolean {
  return ![prismaRuntime, swaggerUi, ...development].some((unneeded) => unneeded.test(path));
}
