import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { commandVariables, runnerVariables } from '../../../src/lib/command-variables.ts';
import { loaderVariableGroups, loaderVariablesIn } from '../../../src/cli/commands/secret/loader-variables.ts';

function refused(keys: readonly string[], value = '/some/value'): string[] {
  return loaderVariablesIn(new Map(keys.map((key) => [key, value])));
}

test.each([
  ['PATH', 'BASH_ENV', 'PROMPT_COMMAND', 'SHELLOPTS', 'PS4', 'BASH_FUNC_ls', 'IFS', 'ZDOTDIR'],
  ['LD_PRELOAD', 'LD_PRELOAD_64', 'LD_AUDIT', 'LD_LIBRARY_PATH', 'DYLD_INSERT_LIBRARIES', 'GCONV_PATH', 'OPENSSL_CONF'],
  ['NODE_OPTIONS', 'NODE_PATH', 'npm_config_script_shell', 'NPM_CONFIG_REGISTRY', 'Npm_Config_Userconfig'],
  [
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'PYTHONHOME',
    'PYTHONWARNINGS',
    'PYTHONBREAKPOINT',
    'PIP_INDEX_URL',
    'PIP_CONFIG_FILE',
  ],
  ['PERL5OPT', 'PERL5LIB', 'PERL5DB', 'RUBYOPT', 'RUBYLIB', 'PHPRC', 'LUA_INIT', 'LUA_INIT_5_4', 'R_PROFILE_USER'],
  ['JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS', 'CLASSPATH', 'DOTNET_STARTUP_HOOKS', 'CORECLR_PROFILER'],
  ['MAKEFLAGS', 'GOFLAGS', 'RUSTC_WRAPPER', 'CARGO_BUILD_RUSTC', 'CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER', 'CC'],
  ['CARGO_REGISTRIES_OWN_CREDENTIAL_PROVIDER', 'ANSIBLE_LOOKUP_PLUGINS', 'OCTAVE_SITE_INITFILE', 'TF_CLI_ARGS_plan'],
  ['GIT_SSH_COMMAND', 'GIT_CONFIG_COUNT', 'GIT_CONFIG_KEY_0', 'GIT_CONFIG_GLOBAL', 'GIT_EXEC_PATH', 'SSH_ASKPASS'],
  ['EDITOR', 'VISUAL', 'PAGER', 'LESSOPEN', 'TAR_OPTIONS', 'HOME', 'XDG_CONFIG_HOME', 'KUBECONFIG', 'AWS_CONFIG_FILE'],
  ['PRISMA_QUERY_ENGINE_LIBRARY', 'ESBUILD_BINARY_PATH', 'npm_execpath', 'Pnpm_Config_Script_Shell', 'PYTHON'],
  ['JAVACMD', 'ES_JAVA_OPTS', 'MVNW_REPOURL', 'DOTNET_GCName', 'DOTNET_DiagnosticPorts', 'NUGET_PLUGIN_PATHS'],
  ['CUDA_INJECTION64_PATH', 'OMP_TOOL_LIBRARIES', 'SASL_PATH', 'PKCS11_MODULE_PATH', 'MAGICK_CONFIGURE_PATH'],
  ['XDG_CACHE_HOME', 'GH_CONFIG_DIR', 'RUBYGEMS_GEMDEPS', 'PYENV_HOOK_PATH', 'NIX_CONFIG', 'CCACHE_PREFIX'],
  ['CONTAINERS_CONF_OVERRIDE', 'ANSIBLE_SSH_ARGS', 'ANSIBLE_SSH_COMMON_ARGS', 'ANSIBLE_SSH_EXECUTABLE', 'TG_TF_PATH'],
  ['RM', 'CO', 'GET', 'LEX', 'YACC', 'TEX', 'MAKE', 'MAKE_COMMAND', 'COMPILE.c', 'LINK.o', 'OUTPUT_OPTION', 'ARFLAGS'],
  ['HEALTH_CMD', 'START_COMMAND', 'MY_EDITOR', 'MY_PAGER', 'MY_SHELL', 'CHROME_EXECUTABLE', 'yarn_script_shell'],
  ['ELECTRON_MIRROR', 'SASS_BINARY_MIRROR', 'CYPRESS_DOWNLOAD_MIRROR', 'PLAYWRIGHT_DOWNLOAD_HOST'],
  [...commandVariables, ...runnerVariables],
])('%s and others of its kind are loader variables', (...keys) => {
  expect(refused(keys)).toEqual(keys);
});

test('the names of ordinary settings and credentials are not', () => {
  const ordinary = [
    'DATABASE_URL',
    'API_KEY',
    'LOG_LEVEL',
    'DEBUG',
    'PORT',
    'HOST',
    'HOSTNAME',
    'USER',
    'NODE_ENV',
    'TZ',
    'LANG',
    'HTTP_PROXY',
    'https_proxy',
    'NO_PROXY',
    'SSL_CERT_FILE',
    'NODE_EXTRA_CA_CERTS',
    'REQUESTS_CA_BUNDLE',
    'LD_SDK_KEY',
    'LD_CLIENT_SIDE_ID',
    'PYTHONUNBUFFERED',
    'PYTHONDONTWRITEBYTECODE',
    'PYTHONIOENCODING',
    'DJANGO_SETTINGS_MODULE',
    'FLASK_APP',
    'RAILS_ENV',
    'RAILS_MASTER_KEY',
    'SPRING_DATASOURCE_URL',
    'JAVA_VERSION',
    'GIT_TOKEN',
    'GIT_SHA',
    'GIT_AUTHOR_NAME',
    'SSH_PRIVATE_KEY',
    'SSH_HOST',
    'NPM_TOKEN',
    'YARN_NPM_AUTH_TOKEN',
    'COMPOSER_AUTH',
    'CARGO_REGISTRY_TOKEN',
    'CARGO_REGISTRIES_OWN_TOKEN',
    'BUNDLE_GEMS__EXAMPLE__COM',
    'UV_INDEX_OWN_PASSWORD',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_PROFILE',
    'AWS_REGION',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'TF_VAR_password',
    'TF_TOKEN_example_com',
    'ANSIBLE_VAULT_PASSWORD',
    'ANSIBLE_BECOME_PASSWORD',
    'ANSIBLE_HOST_KEY_CHECKING',
    'DOTNET_ENVIRONMENT',
    'NUGET_API_KEY',
    'HOMEBREW_GITHUB_API_TOKEN',
    'ORACLE_PASSWORD',
    'COMPOSE_PROJECT_NAME',
    'PYTHON_VERSION',
    'DOCKER_PASSWORD',
    'DOCKER_HOST',
    'KUBE_TOKEN',
    'ENVIRONMENT',
    'APP_ENV',
    'BASE_PATH',
    'APP_HOME',
    'SHELL_COLOR',
    'PROMPT',
    'EDITOR_API_KEY',
    'SHELL_NAME',
    'COMMANDS',
    'COMPILE_TARGET',
    'LINK_URL',
    'DOWNLOAD_URL',
    'RUBY_VERSION',
    'KEYFRAME_DATABASE_URL',
    'path',
    'home',
    'a.b',
    '-x',
  ];
  expect(refused(ordinary)).toEqual([]);
});

describe('ENV', () => {
  test.each(['production', 'dev-2', ''])('as a plain word is ordinary: %j', (value) => {
    expect(refused(['ENV'], value)).toEqual([]);
  });

  test.each(['/tmp/rc', './rc', '$(id)', '`id`', '${HOME}/rc', 'a\nb/c'])(
    'that shells would read or expand is not: %j',
    (value) => {
      expect(refused(['ENV'], value)).toEqual(['ENV']);
    },
  );
});

describe('COMPOSE_FILE', () => {
  test.each(['compose.yaml', 'compose.yaml:compose.override.yaml', ''])(
    'with files of the folder is ordinary: %j',
    (value) => {
      expect(refused(['COMPOSE_FILE'], value)).toEqual([]);
    },
  );

  test.each(['/tmp/compose.yaml', '../compose.yaml', 'oci://registry.example/app', 'https://git.example/a.git#main:b'])(
    'with a path or an address is not: %j',
    (value) => {
      expect(refused(['COMPOSE_FILE'], value)).toEqual(['COMPOSE_FILE']);
    },
  );
});

test('docs/cli-files.md lists all of them', () => {
  const page = readFileSync(join(checkoutDirectory, 'docs', 'cli-files.md'), 'utf8');
  const lines = page.split('\n').filter((line) => line.startsWith('- **'));
  const listed = lines.map((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  expect(lines.map((line) => /^- \*\*(.+)\*\*: /.exec(line)?.[1])).toEqual(
    loaderVariableGroups.map(({ title }) => title),
  );
  expect(listed).toEqual(loaderVariableGroups.map(({ names }) => [...names]));
});

test('no name stands twice', () => {
  const names = loaderVariableGroups.flatMap((group) => group.names);
  expect(new Set(names).size).toBe(names.length);
});
