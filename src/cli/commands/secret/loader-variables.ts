import type { SecretTable } from '../../formats/secret-table.ts';

const words = (line: string): string[] => line.split(' ');

/** Variables of one kind of program. A `*` in a name stands for any characters. */
export interface LoaderVariableGroup {
  readonly title: string;
  readonly names: readonly string[];
}

/**
 * Variables through which a loader, an interpreter or a common tool runs code that the variable's value chooses: a program,
 * a library, a module, a file of settings that may name one, or the place that packages come from. Users who may write an
 * environment choose its keys, so these keys would let them run code on the machines of its readers.
 *
 * Left out on purpose: names of ordinary application settings (`DATABASE_URL`, `DJANGO_SETTINGS_MODULE`), credentials
 * (`AWS_SECRET_ACCESS_KEY`, `NPM_TOKEN`), and proxies and certificates (`HTTPS_PROXY`, `SSL_CERT_FILE`). The last two lead
 * traffic elsewhere but run nothing, and many applications need them.
 */
export const loaderVariableGroups: readonly LoaderVariableGroup[] = [
  {
    title: 'Shells and the lookup of programs',
    names: [
      'PATH PATHEXT COMSPEC SHELL BASH_ENV ENV BASH_FUNC_* BASH_LOADABLES_PATH BASHOPTS SHELLOPTS',
      'PROMPT_COMMAND PS0 PS1 PS2 PS4 IFS CDPATH ZDOTDIR FPATH FCEDIT INPUTRC MAILPATH fish_function_path',
      'fish_complete_path fish_user_paths PSModulePath',
    ].flatMap(words),
  },
  {
    title: 'The dynamic loader and the C library',
    names: [
      'LD_PRELOAD* LD_LIBRARY_PATH* LD_AUDIT* LD_CONFIG* LD_DEBUG* LD_PROFILE* LD_ORIGIN_PATH LD_RUN_PATH',
      'LD_OPTIONS LD_ELF_* LD_LIBMAP* LD_LOADFLTR* LD_32_* LD_64_* DYLD_* LIBPATH SHLIB_PATH GCONV_PATH',
      'GETCONF_DIR GLIBC_TUNABLES LOCPATH NLSPATH HOSTALIASES NIS_PATH RESOLV_HOST_CONF OPENSSL_CONF',
      'OPENSSL_ENGINES OPENSSL_MODULES KRB5_CONFIG ODBCINSTINI ODBCSYSINI LIBMYSQL_PLUGINS',
      'LIBMYSQL_PLUGIN_DIR GTK_MODULES GTK_PATH GIO_EXTRA_MODULES GIO_MODULE_DIR QT_PLUGIN_PATH',
      'QT_QPA_PLATFORM_PLUGIN_PATH GST_PLUGIN_* LIBGL_DRIVERS_PATH DBUS_SESSION_BUS_ADDRESS',
      'DBUS_SYSTEM_BUS_ADDRESS DBUS_STARTER_ADDRESS',
    ].flatMap(words),
  },
  {
    title: 'Folders of settings that programs obey',
    names: [
      'HOME USERPROFILE APPDATA LOCALAPPDATA SYSTEMROOT WINDIR XDG_CONFIG_HOME XDG_CONFIG_DIRS',
      'XDG_DATA_HOME XDG_DATA_DIRS GNUPGHOME CURL_HOME WGETRC SYSTEM_WGETRC DIRENV_CONFIG',
    ].flatMap(words),
  },
  {
    title: 'Node.js and its package managers',
    names: [
      'NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_COMPILE_CACHE ELECTRON_RUN_AS_NODE TS_NODE_*',
      'BUN_OPTIONS BUN_INSPECT* DENO_DIR npm_config_* YARN_RC_FILENAME YARN_YARN_PATH YARN_PLUGINS',
      'YARN_NPM_REGISTRY_SERVER COREPACK_HOME COREPACK_ROOT COREPACK_NPM_REGISTRY PNPM_HOME NVM_DIR',
      'VOLTA_HOME',
    ].flatMap(words),
  },
  {
    title: 'Python and its package managers',
    names: [
      'PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONWARNINGS PYTHONBREAKPOINT PYTHONINSPECT PYTHONEXECUTABLE',
      'PYTHONPLATLIBDIR PYTHONPYCACHEPREFIX PYTHONUSERBASE PYTHONCASEOK IPYTHONDIR JUPYTER_CONFIG_DIR',
      'JUPYTER_CONFIG_PATH JUPYTER_PATH PYTEST_ADDOPTS PYTEST_PLUGINS GUNICORN_CMD_ARGS PIP_* UV_PYTHON',
      'UV_DEFAULT_INDEX UV_INDEX UV_INDEX_URL UV_EXTRA_INDEX_URL UV_FIND_LINKS UV_CONFIG_FILE PYENV_ROOT',
      'VIRTUAL_ENV CONDA_PREFIX',
    ].flatMap(words),
  },
  {
    title: 'Perl, Ruby, PHP, Lua, Tcl, R, Julia and others',
    names: [
      'PERL5* PERLLIB PERLIO PERLIO_DEBUG PERLDB_OPTS RUBYOPT RUBYLIB RUBYLIB_PREFIX RUBYPATH RUBYSHELL',
      'GEM_HOME GEM_PATH BUNDLE_GEMFILE BUNDLE_PATH BUNDLE_BIN_PATH BUNDLE_APP_CONFIG RBENV_ROOT',
      'RBENV_HOOK_PATH ASDF_DIR ASDF_DATA_DIR IRBRC PRYRC PHPRC PHP_INI_SCAN_DIR COMPOSER COMPOSER_HOME',
      'LUA_INIT* LUA_PATH* LUA_CPATH* TCLLIBPATH TCL_LIBRARY TK_LIBRARY R_HOME R_PROFILE* R_ENVIRON*',
      'R_LIBS* R_DEFAULT_PACKAGES JULIA_LOAD_PATH JULIA_DEPOT_PATH JULIA_PROJECT JULIA_BINDIR JULIA_EDITOR',
      'ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ERL_LIBS ERL_INETRC ELIXIR_ERL_OPTIONS GUILE_LOAD_* OCAMLPATH',
      'CAML_LD_LIBRARY_PATH GHCRTS GHC_PACKAGE_PATH GHC_ENVIRONMENT AWKPATH AWKLIBPATH OCTAVE_PATH',
      'OCTAVE_*_INITFILE',
    ].flatMap(words),
  },
  {
    title: 'Java and .NET',
    names: [
      'JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS IBM_JAVA_OPTIONS OPENJ9_JAVA_OPTIONS JAVA_OPTS',
      'JAVA_HOME JDK_HOME JRE_HOME CLASSPATH CATALINA_OPTS MAVEN_OPTS MAVEN_ARGS M2_HOME GRADLE_OPTS',
      'GRADLE_HOME GRADLE_USER_HOME SBT_OPTS ANT_OPTS ANT_ARGS ANT_HOME SDKMAN_DIR DOTNET_STARTUP_HOOKS',
      'DOTNET_ADDITIONAL_DEPS DOTNET_SHARED_STORE DOTNET_ROOT* DOTNET_HOST_PATH',
      'DOTNET_HOSTINGSTARTUPASSEMBLIES ASPNETCORE_HOSTINGSTARTUPASSEMBLIES CORECLR_* COR_ENABLE_PROFILING',
      'COR_PROFILER* COMPlus_* MONO_PATH MONO_CONFIG MONO_ENV_OPTIONS MONO_GAC_PREFIX',
    ].flatMap(words),
  },
  {
    title: 'Compilers and build tools',
    names: [
      'MAKEFLAGS GNUMAKEFLAGS MAKEFILES MFLAGS MAKESHELL AR AS CC CPP CXX FC LD CFLAGS CXXFLAGS CPPFLAGS',
      'LDFLAGS LDLIBS COMPILER_PATH GCC_EXEC_PREFIX LIBRARY_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH',
      'PKG_CONFIG PKG_CONFIG_PATH PKG_CONFIG_LIBDIR CMAKE_* CGO_* GOFLAGS GOENV GOPATH GOROOT GOBIN',
      'GOTOOLCHAIN GOTOOLDIR GOPROXY GOSUMDB GONOSUMDB GOINSECURE GOWORK GOCACHE GOCACHEPROG GOMODCACHE',
      'GOVCS GOAUTH RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTDOC RUSTFLAGS RUSTDOCFLAGS RUSTUP_HOME',
      'RUSTUP_TOOLCHAIN RUSTUP_DIST_SERVER CARGO CARGO_HOME CARGO_BUILD_* CARGO_TARGET_* CARGO_ALIAS_*',
      'CARGO_SOURCE_* CARGO_ENCODED_* CARGO_CREDENTIAL_ALIAS_* CARGO_REGISTR*_CREDENTIAL_PROVIDER*',
      'CARGO_UNSTABLE_*',
    ].flatMap(words),
  },
  {
    title: 'Git, SSH and other version control',
    names: [
      'GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_CONFIG*',
      'GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_DIR GIT_WORK_TREE',
      'GIT_COMMON_DIR GIT_ALLOW_PROTOCOL GIT_PROTOCOL_FROM_USER SSH_ASKPASS SSH_ASKPASS_REQUIRE',
      'SSH_SK_PROVIDER SSH_SK_HELPER SSH_PKCS11_HELPER SUDO_ASKPASS CVS_RSH SVN_SSH SVN_EDITOR HG HGRCPATH',
      'HGEDITOR HGMERGE RSYNC_RSH RSYNC_CONNECT_PROG',
    ].flatMap(words),
  },
  {
    title: 'Editors, pagers and options of tools',
    names: [
      'EDITOR VISUAL PAGER BROWSER ALTERNATE_EDITOR SUDO_EDITOR SYSTEMD_EDITOR SYSTEMD_PAGER MANPAGER',
      'MANOPT LESS LESSOPEN LESSCLOSE LESSKEY* LESSEDIT BAT_PAGER BAT_CONFIG_PATH DELTA_PAGER GH_PAGER',
      'GH_EDITOR GH_BROWSER PSQLRC PSQL_EDITOR PSQL_PAGER VIM VIMRUNTIME VIMINIT GVIMINIT EXINIT',
      'EMACSLOADPATH TAR_OPTIONS ZIPOPT RIPGREP_CONFIG_PATH FZF_DEFAULT_COMMAND FZF_DEFAULT_OPTS*',
    ].flatMap(words),
  },
  {
    title: 'Tools of clusters and clouds',
    names: [
      'KUBECONFIG KUBE_EDITOR KUBECTL_EXTERNAL_DIFF HELM_PLUGINS HELM_CONFIG_HOME HELM_DATA_HOME',
      'DOCKER_CONFIG BUILDX_CONFIG TF_CLI_ARGS* TF_CLI_CONFIG_FILE TF_DATA_DIR TF_REATTACH_PROVIDERS',
      'TF_PLUGIN_CACHE_DIR AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_DATA_PATH AWS_PAGER',
      'CLOUDSDK_CONFIG CLOUDSDK_PYTHON* GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES AZURE_CONFIG_DIR',
      'AZURE_EXTENSION_DIR ANSIBLE_CONFIG ANSIBLE_LIBRARY ANSIBLE_*_PLUGINS ANSIBLE_VAULT_PASSWORD_FILE',
    ].flatMap(words),
  },
  {
    title: 'This command itself',
    names: ['KEYFRAME_URL KEYFRAME_TRUST_FOLDER KEYFRAME_INSECURE_HTTP'].flatMap(words),
  },
];

// `ENV=production` is common and harmless. Shells read the file that ENV names, and expand it first, so a path or an
// expansion is neither.
const harmlessValues: ReadonlyMap<string, RegExp> = new Map([['ENV', /^[\w-]*$/]]);

let compiled: readonly RegExp[] | undefined;

/** The keys of the table, in its order, that are loader variables. */
export function loaderVariablesIn(secrets: SecretTable): string[] {
  return [...secrets]
    .filter(([key, value]) => isLoaderVariable(key) && harmlessValues.get(key)?.test(value) !== true)
    .map(([key]) => key);
}

function isLoaderVariable(key: string): boolean {
  compiled ??= loaderVariableGroups.flatMap(({ names }) => names).map(patternOf);
  return compiled.some((pattern) => pattern.test(key));
}

/** npm reads its variables in any case, and Windows all variables. */
function patternOf(name: string): RegExp {
  const ignoresCase = name === 'npm_config_*' || process.platform === 'win32';
  return new RegExp(`^${name.replaceAll('*', '.*')}$`, ignoresCase ? 'i' : '');
}
