/** What a process, a command or the sandbox reads from its environment. docs/reference/environment.md is printed from it. */
export interface EnvironmentVariable {
  /** The value where the variable is unset or empty; null: there is none. */
  readonly otherwise: string | null;
  /** Describes the unset variable where a default value cannot. */
  readonly unset?: string;
  /** What listens there, if it is a port. */
  readonly port?: string;
  readonly meaning: string;
}

type Variables = Readonly<Record<string, EnvironmentVariable>>;

const PROCESSES: Variables = {
  DATABASE_URL: {
    otherwise: null,
    unset: 'required; `npm start` runs its own',
    meaning:
      '`postgres://user:password@host:port/database`: Postgres 18 or newer, with `fsync`, `full_page_writes` and `synchronous_commit` not off, as the service’s role. Of several hosts (`host:port,host:port`), or with `target_session_attrs=read-write`, only the one that takes writes is used.',
  },
  DATABASE_READ_URL: {
    otherwise: null,
    unset: 'lists are read there too',
    meaning: 'The same for servers that follow it: the API reads lists, statements and exports there.',
  },
  MIGRATION_DATABASE_URL: {
    otherwise: null,
    unset: '`DATABASE_URL`, with a warning',
    meaning: 'The same as the role that owns the tables, for the migration only.',
  },
  PORT: { otherwise: '3000', port: 'the API', meaning: 'Where the API listens.' },
  API_HOST: {
    otherwise: null,
    unset: 'every address; under `npm start` 127.0.0.1',
    meaning: 'Its address.',
  },
  API_LOOPS: {
    otherwise: 'on',
    meaning: '`off`: this API runs no background loops; run `npm run loops` then.',
  },
  PUBLIC_URL: {
    otherwise: null,
    unset: '`http://127.0.0.1:PORT`',
    meaning: 'The API’s address for others: for callbacks, for links in e-mails, and as issuer of ID tokens.',
  },
  AUDIENCE: {
    otherwise: null,
    unset: 'the configuration’s, required; `npm start` makes one',
    meaning:
      'The name of this installation, which bearer tokens carry as `aud`: not `PUBLIC_URL`, nor an address below it.',
  },
  SFTP_PASSPHRASE: {
    otherwise: null,
    unset: 'required for banks with an SFTP server',
    meaning:
      'Opens the private keys of banks with files (`iso20022` in the configuration), for the process that runs the loops.',
  },
  PGP_PASSPHRASE: {
    otherwise: null,
    unset: 'required for banks with signed or encrypted files',
    meaning: 'Opens the PGP private keys of banks with files, for the process that runs the loops.',
  },
  EU_VOP_CERTIFICATE_FILE: {
    otherwise: null,
    unset: 'none is shown',
    meaning:
      'The certificate by which the directory `eu-vop` knows the API: a file in PEM, with those between it and its authority. The scheme asks for a QWAC.',
  },
  EU_VOP_KEY_FILE: { otherwise: null, unset: 'required with the certificate', meaning: 'Its key, in PEM.' },
  EU_VOP_KEY_PASSPHRASE: { otherwise: null, unset: 'the key is not encrypted', meaning: 'Opens that key.' },
  EU_VOP_CA_FILE: {
    otherwise: null,
    unset: 'Node’s',
    meaning: 'The authorities, in PEM, of which the directory’s own certificate must be.',
  },
  CONFIG_FILE: {
    otherwise: null,
    unset: '`config/default.json`',
    meaning: 'Your settings, merged over the default. Several files are separated as on `PATH`; the last wins.',
  },
  ENCRYPTION_KEY: {
    otherwise: null,
    unset: 'required; `npm start` makes one',
    meaning:
      '32 random bytes in base64 (`openssl rand -base64 32`) that encrypt secrets in the database; during a rotation several, with commas between.',
  },
  COMPLIANCE_INCOMING: {
    otherwise: null,
    unset: 'the configuration’s',
    meaning: '`none`, `external` or `built-in`, in place of `compliance.incoming.mode`.',
  },
  COMPLIANCE_OUTGOING: {
    otherwise: null,
    unset: 'the configuration’s',
    meaning: 'The same for payments out.',
  },
  AUTHORIZATION_RULE: {
    otherwise: null,
    unset: 'the configuration’s',
    meaning: '`never`, `always` or an amount, in place of `authorization.rule`.',
  },
  SMTP_URL: {
    otherwise: null,
    unset: 'no mail; under `npm start` the sandbox’s catcher',
    meaning:
      '`smtp://host:port` or `smtps://user:password@host:port`. With `smtp:` the server must offer STARTTLS, unless the address ends with `?requireTLS=false`.',
  },
  MAIL_FROM: { otherwise: 'no-reply@localhost', meaning: 'The sender of e-mails.' },
  METRICS_PORT: {
    otherwise: '9464',
    unset: '`9464`; under `npm start` free ones',
    port: 'the metrics of this process',
    meaning: 'Where `GET /metrics` answers, under `npm start` the API’s; 0 picks a free port.',
  },
  METRICS_HOST: {
    otherwise: '127.0.0.1',
    meaning: 'Its address. It has no access control.',
  },
  WORKER_TASK_QUEUES: {
    otherwise: 'workflows,providers,webhooks',
    meaning: 'Which task queues this worker polls, with commas between. Every one needs a worker.',
  },
  WORKER_DRAIN_SECONDS: {
    otherwise: '5',
    meaning:
      'How long activities of a worker may go on after SIGTERM before they are cancelled, and repeated by another. It ends 13 s later at most.',
  },
  LOG_LEVEL: {
    otherwise: 'info',
    meaning: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
  },
};

const TRACES: Variables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    otherwise: null,
    unset: 'no traces',
    meaning:
      'The address of a collector of OpenTelemetry, to which spans go by OTLP ([traces](../traces.md)). The SDK’s further variables, such as `OTEL_SERVICE_NAME` and `OTEL_EXPORTER_OTLP_HEADERS`, hold too.',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    otherwise: null,
    unset: '`{OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`',
    meaning: 'The whole address.',
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: { otherwise: 'http/protobuf', meaning: 'That, or `http/json`.' },
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: {
    otherwise: null,
    unset: '`OTEL_EXPORTER_OTLP_PROTOCOL`',
    meaning: 'The same; it comes first.',
  },
  OTEL_TRACES_SAMPLER: {
    otherwise: 'parentbased_always_on',
    meaning: 'Which requests begin a trace: `parentbased_traceidratio` for a share of them.',
  },
  OTEL_TRACES_SAMPLER_ARG: { otherwise: '1', meaning: 'That share, from 0 to 1.' },
  OTEL_TRACES_EXPORTER: { otherwise: 'otlp', meaning: '`none`: no traces.' },
  OTEL_SDK_DISABLED: { otherwise: 'false', meaning: '`true`: no traces.' },
};

const CONSOLE: Variables = {
  CONSOLE_PORT: { otherwise: '3200', port: 'the console', meaning: 'Where the console listens.' },
  CONSOLE_HOST: { otherwise: '127.0.0.1', meaning: 'Its address.' },
  CONSOLE_URL: {
    otherwise: null,
    unset: '`http://127.0.0.1:CONSOLE_PORT`',
    meaning:
      'Its address for people, without a path: `https`, or `http` on this machine. API and loops link their workflows to it. Register `{CONSOLE_URL}/sign-in/callback` at the identity provider as redirect address, and `{CONSOLE_URL}/signed-out` for after a sign-out.',
  },
  CONSOLE_ISSUER: {
    otherwise: null,
    unset: 'required; under `npm start` the sandbox’s',
    meaning:
      'The issuer of the company’s OpenID provider: `https`, or `http` on this machine. It must tell `auth_time` when it is asked with `max_age`.',
  },
  CONSOLE_CLIENT_ID: {
    otherwise: null,
    unset: 'required; under `npm start` made',
    meaning: 'The console’s client there.',
  },
  CONSOLE_CLIENT_SECRET: {
    otherwise: null,
    unset: 'required; under `npm start` made',
    meaning: 'Its secret, sent as `client_secret_basic`.',
  },
  TEMPORAL_UI_URL: {
    otherwise: null,
    unset: 'no links',
    meaning: 'The address of Temporal’s UI with its namespace, to which the console links.',
  },
};

const TEMPORAL: Variables = {
  TEMPORAL_ADDRESS: {
    otherwise: '127.0.0.1:7233',
    meaning: '`host:port` of Temporal. `npm start` runs its own if it is unset.',
  },
  TEMPORAL_NAMESPACE: { otherwise: 'default', meaning: 'The namespace; made on the local server if it is missing.' },
  TEMPORAL_DEPLOYMENT_NAME: {
    otherwise: null,
    unset: 'workers are not versioned',
    meaning:
      'What Temporal knows this installation’s workers as, of whatever release ([upgrade](../upgrade.md#workers)). The Temporal Worker Controller sets it, and the next.',
  },
  TEMPORAL_WORKER_BUILD_ID: {
    otherwise: null,
    unset: 'the release’s number',
    meaning: 'What it knows this release’s as, such as the tag of the image.',
  },
  TEMPORAL_API_KEY: { otherwise: null, meaning: 'An API key; it implies TLS.' },
  TEMPORAL_TLS: { otherwise: null, meaning: '`true`: TLS without any of the settings below.' },
  TEMPORAL_TLS_SERVER_NAME: { otherwise: null, meaning: 'The name that the server’s certificate must have.' },
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: { otherwise: null, meaning: 'The file of a private CA.' },
  TEMPORAL_TLS_CLIENT_CERT_PATH: { otherwise: null, meaning: 'The client’s certificate, with its key below.' },
  TEMPORAL_TLS_CLIENT_KEY_PATH: { otherwise: null, meaning: 'The client’s key.' },
};

const SANDBOX: Variables = {
  SANDBOX_PORT: { otherwise: '3100', port: 'the sandbox', meaning: 'Where the sandbox listens.' },
  SANDBOX_HOST: { otherwise: '127.0.0.1', meaning: 'Its address. It has no access control.' },
  SANDBOX_HOSTS: {
    otherwise: null,
    meaning: 'Further names of it, with commas between; any other `Host` gets 421.',
  },
  SANDBOX_URL: {
    otherwise: null,
    unset: '`http://127.0.0.1:SANDBOX_PORT`',
    meaning: 'Where the service finds the sandbox bank and the name directory.',
  },
  SANDBOX_BANK_SECRET: {
    otherwise: null,
    unset: 'required by the sandbox; `npm start` makes one',
    meaning: 'Signs the bank’s callbacks: the same on both sides, at least 16 characters.',
  },
  CALLBACK_URL: {
    otherwise: null,
    unset: '`{PUBLIC_URL}/provider-callbacks/sandbox-bank`',
    meaning: 'The whole address of the bank’s callbacks.',
  },
  SANDBOX_ISSUER: {
    otherwise: null,
    meaning:
      'The address of the sandbox’s identity provider for people and the console, `/identity` on its port; set by `npm start`. It lets people in without a password.',
  },
  SANDBOX_CONSOLE_URL: {
    otherwise: null,
    meaning: 'The `CONSOLE_URL` to which it leads people back; set by `npm start`.',
  },
  SANDBOX_CONSOLE_SECRET: {
    otherwise: null,
    meaning: 'The `CONSOLE_CLIENT_SECRET` of the client `console` there; made by `npm start`.',
  },
  SANDBOX_SMTP_PORT: { otherwise: '0', port: 'the mail catcher', meaning: 'Where it takes mail; 0 picks a free port.' },
  SANDBOX_SFTP_PORT: {
    otherwise: '0',
    port: 'the file bank',
    meaning: 'Where the file bank takes SFTP; 0 picks a free port.',
  },
  SANDBOX_SFTP_AUTHORIZED_KEYS: {
    otherwise: null,
    unset: 'a file with a key that the sandbox makes',
    meaning: 'OpenSSH’s file of the keys that may sign in there.',
  },
  SANDBOX_CLOCK: {
    otherwise: 'off',
    meaning: '`on`, set by `npm start` on its own Postgres: the clock may be moved.',
  },
  SANDBOX_PARTIES: {
    otherwise: null,
    meaning: 'The keys of the third party and the front office; set by `npm start`.',
  },
  SANDBOX_API_URL: { otherwise: null, meaning: 'The service that these two call; set by `npm start`.' },
};

const ONE_MACHINE: Variables = {
  DATA_DIR: { otherwise: '.data', meaning: 'All persistent files.' },
  TEMPORAL_PORT: { otherwise: '7233', port: 'Temporal', meaning: 'The local Temporal server.' },
  TEMPORAL_UI_PORT: { otherwise: '8233', port: 'Temporal’s UI', meaning: 'Its UI.' },
  TEMPORAL_CLI_PATH: { otherwise: null, meaning: 'The Temporal CLI; otherwise one is looked for, then fetched.' },
  XDG_CACHE_HOME: { otherwise: null, unset: '`~/.cache`', meaning: 'Where fetched tools are kept.' },
};

const COMMAND_LINE: Variables = {
  FAS_PROFILE: { otherwise: null, unset: 'the current one', meaning: 'The profile as which commands act.' },
  FAS_BASE_URL: {
    otherwise: null,
    unset: 'the profile’s; without one the service that was started here',
    meaning: 'The API’s address.',
  },
  FAS_MODE: {
    otherwise: null,
    unset: '`live`',
    meaning:
      '`test` or `live`: what is behind FAS_BASE_URL, DATABASE_URL and TEMPORAL_ADDRESS; `live` holds for all else too.',
  },
  FAS_MACHINE_USER: { otherwise: null, unset: 'the profile’s', meaning: 'The machine user that calls.' },
  FAS_KEY_FILE: { otherwise: null, unset: 'the profile’s', meaning: 'The path of its private key.' },
  FAS_KEY_ID: { otherwise: null, unset: 'the profile’s, or the key’s thumbprint', meaning: 'The kid of that key.' },
  FAS_AUDIENCE: { otherwise: null, unset: 'the profile’s', meaning: 'The `AUDIENCE` of the service.' },
};

/** By what reads them. */
export const ENVIRONMENT_VARIABLES: Readonly<Record<string, Variables>> = {
  'API, loops, worker and commands': PROCESSES,
  'Traces of API, loops, worker and console': TRACES,
  Console: CONSOLE,
  Temporal: TEMPORAL,
  Sandbox: SANDBOX,
  '`npm start` and its commands': ONE_MACHINE,
  '`fas`': COMMAND_LINE,
};
