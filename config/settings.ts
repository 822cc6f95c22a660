import type { ConfigurationFile } from './schema/schema.ts';

/** What each setting of the configuration file means. docs/reference/configuration.md is printed from it. */
export const SETTINGS: Readonly<Record<keyof ConfigurationFile, string>> = {
  audience: 'The `aud` of bearer tokens, unique to this installation; see `AUDIENCE`.',
  providers:
    'In the order of implicit choice: `method` (`built-in`, `plug-in`) and `offers`: currencies (`"*"`: those of no other offer), countries, default country, schemes, and the `bank` that payers see, with an `intermediary` for `swift` and the `pooledAccount` if all accounts share one; for files [`iso20022`](../guides/connect-a-bank-by-files.md).',
  directories:
    'Name directories: the default provider, the time-out of an answer, and the accounts that each knows: a `currency` in `countries`, each pair in one directory.',
  migrations: 'The time-out of an answer about what is to be migrated.',
  modulusCheck: 'The files of the UK modulus check, below.',
  schemes:
    'By scheme: `zone` (IANA), `cutOff` (`hh:mm` there; null: it never closes), `cutOffByCurrency`, `opensAt`, `calendars` (`currency`: that of the currency; open if all are), `currencies`, `destinationCountries`, `accountsNamedBy` (`iban`, `bic`, `sort-code`), and `amountLimits` by currency. Keep a scheme while transfers of it are open.',
  calendars: 'The file of each calendar, below.',
  bankProfiles: 'The file of each bank’s profile for [files](bank-messages.md).',
  calendarByCurrency: 'The calendar of each currency.',
  prices:
    'Implicit fees. The first line that matches `direction`, `scheme` and `currency` applies: `fixed`, and `ratio` with `minimum` and `maximum`.',
  rollLimit: 'How often a transfer may roll before it fails.',
  retryLimit: 'How often a payment that its provider rejected for a passing reason (BE08, MS03) is submitted again.',
  retryPauseSeconds: 'The pause before that, by schemes that never close; others wait for their next window.',
  releasesPerSecond: 'How many transfers that wait for one opening go each second, by all workers together.',
  transferDateYearsMax: 'How many years ahead a transfer may be dated.',
  compliance:
    'By direction a `mode`, and `byCurrency`: `none`, `external` (callers decide) or `built-in` (by `rules`, below).',
  authorization: '`rule`: `never`, `always` or from an amount on; `byCurrency` has exceptions.',
  tradeNames: 'The allowed values of `trade-name` for trade in services (CSTRDR).',
  feeSweepTime: 'When fees are swept each day (UTC).',
  retention:
    'Days to keep idempotency keys, ended deliveries, and events (null: for good; not shorter than deliveries).',
  rateLimit: 'Requests per second of a caller and API process; null: no limit.',
  bodyLimitBytes: 'The largest body, but for a batch of transfers (4 MiB).',
  connections:
    '`withoutTokenPerAddress`: open connections of an address (IPv6: a /64) without a valid token, per API process; null behind a proxy. `bodySeconds`: the time for a body.',
  openBanking: '`allowLoopbackRedirects`: third parties may have redirect addresses on this machine.',
  webhooks:
    'Delays of attempts, jitter, time-out, when a dead subscription is disabled, and which addresses are allowed.',
  console:
    'Who may use the console: `rolesClaim`, the claim that lists a person’s groups, asked for with `scope`; `roles`, the role of each group. How long a session (`sessionMinutes`) and the right to move money (`recentSignInMinutes`) last after a sign-in. `remediesOff`: kinds of remedies that are off, or `all`.',
  pools: 'Connections, cached workflows and slots of each process.',
};
