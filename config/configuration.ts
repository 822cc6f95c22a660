import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import {
  type ModulusTable,
  parseModulusWeights,
  parseSortCodeSubstitutions,
  type TableProblem,
} from '../domain/accounts/uk-modulus-check.ts';
import type { BankProfile } from '../domain/bank-files/profiles.ts';
import { parseAmountMinor } from '../domain/common/money.ts';
import { type ComplianceRule, DIRECTIONS, type LimitsMinor, parseWindow } from '../domain/compliance/rules.ts';
import { type Price, type PriceTable, parseRatio } from '../domain/ledger/fees.ts';
import {
  type AuthorizationRule,
  type ComplianceMode,
  parseAuthorizationRule,
  type RuleByCurrency,
} from '../domain/outgoing-transfers/requirement-rules.ts';
import type { Provider } from '../domain/providers/providers.ts';
import { type SchemeRule, Schemes } from '../domain/providers/schemes.ts';
import { readBankProfiles } from './bank-profiles/bank-profiles.ts';
import { senderProblems } from './bank-profiles/senders.ts';
import { CalendarFiles } from './calendars/calendar-files.ts';
import { ConfigurationError, mergePatch, readFile, readJson, resolvePaths } from './files.ts';
import type { FileExchange } from './schema/file-exchange.ts';
import { withOverrides } from './schema/overrides.ts';
import { checkReferences } from './schema/references.ts';
import { type ConfigurationFile, configurationFile, describeIssues } from './schema/schema.ts';
import { transferRuleDigests } from './transfer-rule-settings.ts';

/** The operator's settings, validated and ready for use. Read once at the start of a process, except for the calendars. */
export interface Configuration {
  /** The required `aud` of bearer tokens: this installation's name. Null if not set; the API then does not start. */
  readonly audience: string | null;
  /** In the order of implicit choice. */
  readonly providers: readonly Provider[];
  readonly directories: ConfigurationFile['directories'];
  /** How each bank takes payments by file, by the profile's code. */
  readonly bankProfiles: ReadonlyMap<string, BankProfile>;
  /** How files are exchanged with each bank that is paid through by file, by the provider's code. */
  readonly fileExchanges: ReadonlyMap<string, FileExchange>;
  /** How long a provider may take to answer a migration look-up. */
  readonly migrations: ConfigurationFile['migrations'];
  /** Null: UK account numbers are presumed valid. The table of weights is third-party and not part of the service. */
  readonly modulusCheck: { readonly table: ModulusTable; readonly onFailure: 'reject' | 'warn' } | null;
  readonly schemes: Schemes;
  /** The calendars that the schemes follow; `watchCalendars` rereads changed files. */
  readonly calendars: CalendarFiles;
  /** By these, processes and commands notice that they decide about transfers by different settings. */
  readonly transferRuleDigests: ReadonlyMap<string, string>;
  readonly prices: PriceTable;
  /** How often a transfer may roll before it fails. */
  readonly rollLimit: number;
  /** How often a payment that its provider rejected for a passing reason is submitted again before it fails. */
  readonly retryLimit: number;
  /** The pause before that in a scheme that never closes; in any other it is the next window. */
  readonly retryPauseSeconds: number;
  /** How many of the transfers that wait for one instant all workers together release each second. */
  readonly releasesPerSecond: number;
  /** How many years ahead a transfer may be dated. */
  readonly transferDateYearsMax: number;
  readonly compliance: {
    readonly incoming: RuleByCurrency<ComplianceMode>;
    readonly outgoing: RuleByCurrency<ComplianceMode>;
  };
  /** The rules of built-in reviews, in the order in which a stop names them. */
  readonly complianceRules: readonly ComplianceRule[];
  readonly authorization: RuleByCurrency<AuthorizationRule>;
  /** Allowed values of `trade-name` for trade in services. */
  readonly tradeNames: readonly string[];
  /** Time of day in UTC, `hh:mm`. */
  readonly feeSweepTime: string;
  /** How long housekeeping keeps rows that serve callers for a time only; null keeps events for good. */
  readonly retention: ConfigurationFile['retention'];
  /** Per machine user and API process; null is no limit. */
  readonly rateLimit: { readonly requestsPerSecond: number | null };
  readonly bodyLimitBytes: number;
  /** What callers may hold: connections of one address without a valid token (null: no limit), and the time for a body to arrive. */
  readonly connections: ConfigurationFile['connections'];
  /** Whether third parties may have redirect addresses on this machine, over plain http. */
  readonly openBanking: ConfigurationFile['openBanking'];
  readonly webhooks: WebhookConfiguration;
  /** Who may sign in to the console, for how long, and what they may do there. */
  readonly console: ConfigurationFile['console'];
  readonly pools: ConfigurationFile['pools'];
}

export interface WebhookConfiguration {
  /** The wait before each attempt, one entry per attempt. */
  readonly attemptDelaysSeconds: readonly number[];
  /** Jitter: lengthens a wait by up to this fraction. */
  readonly jitterRatio: number;
  readonly timeoutMs: number;
  readonly disableAfterHours: number;
  readonly allowLoopback: boolean;
  readonly allowPlainHttp: boolean;
  /** Allows receivers in private networks. */
  readonly allowPrivate: boolean;
}

const DEFAULT_FILE = fileURLToPath(new URL('default.json', import.meta.url));
/** Allowed on a single machine, not in real use: webhook receivers on loopback, over plain http. */
const LOCAL_FILE = fileURLToPath(new URL('local.json', import.meta.url));

/**
 * Reads config/default.json, applies each file of CONFIG_FILE as a JSON merge patch (RFC 7396), then the
 * environment's overrides. A file may be a full copy of the default or a few lines. Paths in a file are relative to
 * it.
 */
export function loadConfiguration(env: NodeJS.ProcessEnv): Configuration {
  const defaults = resolvePaths(readJson(DEFAULT_FILE), DEFAULT_FILE);
  const files = configurationFiles(env);
  const merged = files.reduce<unknown>(
    (below, file) => mergePatch(below, resolvePaths(readJson(file), file)),
    defaults,
  );
  const parsed = v.safeParse(configurationFile, withOverrides(merged, env));
  const source = files.at(-1) ?? 'config/default.json';
  if (!parsed.success) throw new ConfigurationError(describeIssues(parsed.issues).map((line) => `${source}: ${line}`));
  const problems = checkReferences(parsed.output);
  if (problems.length > 0) throw new ConfigurationError(problems.map((line) => `${source}: ${line}`));
  return build(parsed.output);
}

/** The CONFIG_FILE of a single-machine service: config/local.json below the operator's own files. */
export function localConfigurationFiles(env: NodeJS.ProcessEnv): string {
  return [LOCAL_FILE, ...configurationFiles(env)].join(delimiter);
}

/** CONFIG_FILE is a list like PATH. */
function configurationFiles(env: NodeJS.ProcessEnv): string[] {
  return (env.CONFIG_FILE ?? '')
    .split(delimiter)
    .map((file) => file.trim())
    .filter((file) => file !== '');
}

/** Without its own audience an installation would accept every other one's tokens. */
export function requiredAudience({ audience }: Pick<Configuration, 'audience'>): string {
  if (audience !== null) return audience;
  throw new ConfigurationError([
    'AUDIENCE is not set. Set it to a name that only this installation has, other than its public address: bearer tokens carry it as "aud".',
  ]);
}

/**
 * The audience of bearer tokens, which must differ from that of client assertions (`PUBLIC_URL`, the issuer, and the token endpoint
 * below it): otherwise a thief could use a token that was meant for one endpoint at the other.
 */
export function separateAudience(configuration: Pick<Configuration, 'audience'>, publicUrl: string): string {
  const audience = requiredAudience(configuration);
  if (audience !== publicUrl && !audience.startsWith(`${publicUrl}/`)) return audience;
  throw new ConfigurationError([
    'AUDIENCE is PUBLIC_URL or an address below it, which client assertions carry as "aud". Set it to another name of this installation, such as financial-accounts.example.com.',
  ]);
}

function build(file: ConfigurationFile): Configuration {
  const calendars = new CalendarFiles(file.calendars);
  const schemes = new Schemes({
    rules: Object.fromEntries(Object.entries(file.schemes).map(([code, rule]) => [code, schemeRule(rule)])),
    calendars: () => calendars.current,
    calendarByCurrency: file.calendarByCurrency,
  });
  const bankProfiles = readBankProfiles(file.bankProfiles);
  const problems = senderProblems(file.providers, bankProfiles);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return {
    ...file,
    schemes,
    bankProfiles,
    fileExchanges: new Map(
      Object.entries(file.providers).flatMap(([code, { iso20022 }]) =>
        iso20022 === undefined ? [] : [[code, iso20022]],
      ),
    ),
    calendars,
    transferRuleDigests: transferRuleDigests(file),
    modulusCheck: file.modulusCheck === null ? null : readModulusCheck(file.modulusCheck),
    providers: Object.entries(file.providers).map(([code, { method, offers }]) => ({
      code,
      method,
      offers: offers.map(({ currencies, countries, ...rest }) => ({
        currencies: currencies === '*' ? null : currencies,
        countries: countries === '*' ? null : countries,
        ...rest,
      })),
    })),
    prices: file.prices.map(price),
    compliance: { incoming: modes(file.compliance.incoming), outgoing: modes(file.compliance.outgoing) },
    complianceRules: file.compliance.rules.map(complianceRule),
    authorization: {
      rule: authorizationRule(file.authorization.rule),
      byCurrency: Object.fromEntries(
        Object.entries(file.authorization.byCurrency).map(([currency, rule]) => [currency, authorizationRule(rule)]),
      ),
    },
  };
}

function schemeRule(rule: ConfigurationFile['schemes'][string]): SchemeRule {
  return {
    zone: rule.zone,
    currencies: rule.currencies ?? null,
    destinationCountries: rule.destinationCountries ?? null,
    cutOff: rule.cutOff,
    accountsNamedBy: rule.accountsNamedBy,
    cutOffByCurrency: rule.cutOffByCurrency,
    opensAt: rule.opensAt,
    calendars: rule.calendars,
    amountLimitsMinor: limits(rule.amountLimits),
  };
}

function price(line: ConfigurationFile['prices'][number]): Price {
  const currency = line.currency ?? null;
  const amount = (text: string | undefined) => (text === undefined || currency === null ? null : minor(text, currency));
  const ratio = line.ratio === undefined ? null : parseRatio(line.ratio);
  return {
    direction: line.direction ?? null,
    scheme: line.scheme ?? null,
    currency,
    fixedMinor: amount(line.fixed) ?? 0n,
    pricing: ratio === null ? null : { ratio, minimumMinor: amount(line.minimum), maximumMinor: amount(line.maximum) },
  };
}

function modes({ mode, byCurrency }: ConfigurationFile['compliance']['incoming']): RuleByCurrency<ComplianceMode> {
  return { rule: mode, byCurrency };
}

function complianceRule(rule: ConfigurationFile['compliance']['rules'][number]): ComplianceRule {
  const { name, stop, direction } = rule;
  const shared = { name, stop, directions: direction === 'both' ? DIRECTIONS : [direction] };
  switch (rule.kind) {
    case 'amount':
      return { ...shared, kind: rule.kind, fromMinor: limits(rule.amounts) };
    case 'velocity':
      return {
        ...shared,
        kind: rule.kind,
        windowMs: parseWindow(rule.window) ?? 0,
        fromCount: rule.count ?? null,
        fromSumMinor: limits(rule.amounts),
      };
    case 'country':
      return { ...shared, kind: rule.kind, countries: new Set(rule.countries) };
    case 'name':
      return { ...shared, kind: rule.kind, file: rule.file, threshold: rule.threshold };
  }
}

function limits(amounts: Readonly<Record<string, string>>): LimitsMinor {
  return Object.fromEntries(Object.entries(amounts).map(([currency, text]) => [currency, minor(text, currency)]));
}

// The two below cannot fail: the schema and checkReferences have validated the texts.
function authorizationRule(text: string): AuthorizationRule {
  return parseAuthorizationRule(text) ?? 'always';
}

function minor(text: string, currency: string): bigint {
  const amount = parseAmountMinor(text, currency, { positive: false });
  if (typeof amount !== 'bigint') throw new ConfigurationError([`${text} ${currency} is no amount: ${amount}`]);
  return amount;
}

function readModulusCheck(file: NonNullable<ConfigurationFile['modulusCheck']>): Configuration['modulusCheck'] {
  const weights = parseModulusWeights(readFile(file.weightsFile));
  const { substitutions, problems } = parseSortCodeSubstitutions(readFile(file.substitutionsFile));
  const named = (path: string, found: readonly TableProblem[]) =>
    found.map(({ line, message }) => `${path}: line ${line} ${message}`);
  const lines = [...named(file.weightsFile, weights.problems), ...named(file.substitutionsFile, problems)];
  if (weights.rows.length === 0) lines.push(`${file.weightsFile} holds no weights`);
  if (lines.length > 0) throw new ConfigurationError(lines);
  return { table: { rows: weights.rows, substitutions }, onFailure: file.onFailure };
}
