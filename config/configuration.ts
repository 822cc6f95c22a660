import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { createCalendars, createHolidayTable, type HolidayTable } from '../domain/calendars.ts';
import { type Price, type PriceTable, parseRatio } from '../domain/fees.ts';
import { parseAmountMinor } from '../domain/money.ts';
import type { Provider } from '../domain/providers.ts';
import {
  type AuthorizationRule,
  COMPLIANCE_MODES,
  type ComplianceMode,
  parseAuthorizationRule,
  type RuleByCurrency,
} from '../domain/requirement-rules.ts';
import { type SchemeRule, Schemes } from '../domain/schemes.ts';
import {
  type ModulusTable,
  parseModulusWeights,
  parseSortCodeSubstitutions,
  type TableProblem,
} from '../domain/uk-modulus-check.ts';
import { checkReferences } from './references.ts';
import { bankHolidaysFile, type ConfigurationFile, configurationFile, describeIssues } from './schema.ts';

/** What an operator may change, checked and ready for use. Read once, at the start of a process. */
export interface Configuration {
  /** The `aud` that bearer tokens must carry. */
  readonly audience: string;
  /** In the order in which implicit choice tries them. */
  readonly providers: readonly Provider[];
  readonly directories: ConfigurationFile['directories'];
  /** How long a provider may take to tell whom it has, when a client or beneficiary is taken over from it. */
  readonly migrations: ConfigurationFile['migrations'];
  /** Null: UK account numbers are presumed valid, as the table of weights is another's and not part of the service. */
  readonly modulusCheck: { readonly table: ModulusTable; readonly onFailure: 'reject' | 'warn' } | null;
  readonly schemes: Schemes;
  /** For the alarm when the published holidays run out: less than 12 months ahead is too few. */
  readonly holidayTable: HolidayTable;
  readonly prices: PriceTable;
  /** How often a transfer may roll before it fails. */
  readonly rollLimit: number;
  readonly compliance: {
    readonly incoming: RuleByCurrency<ComplianceMode>;
    readonly outgoing: RuleByCurrency<ComplianceMode>;
  };
  readonly authorization: RuleByCurrency<AuthorizationRule>;
  /** What `trade-name` may say when the reason is trade in services. */
  readonly tradeNames: readonly string[];
  /** Time of day in UTC, `hh:mm`. */
  readonly feeSweepTime: string;
  /** Per machine user and API process; null is no limit. */
  readonly rateLimit: { readonly requestsPerSecond: number | null };
  readonly bodyLimitBytes: number;
  readonly webhooks: WebhookConfiguration;
  readonly pools: ConfigurationFile['pools'];
}

export interface WebhookConfiguration {
  /** The wait before each attempt, from the one before it; as many entries as attempts. */
  readonly attemptDelaysSeconds: readonly number[];
  /** A wait is lengthened by up to this part of itself. */
  readonly jitterRatio: number;
  readonly timeoutMs: number;
  readonly disableAfterHours: number;
  readonly allowLoopback: boolean;
  readonly allowPlainHttp: boolean;
  /** Receivers at addresses of private networks. */
  readonly allowPrivate: boolean;
}

/** The settings are wrong; the message has one line for each. */
export class ConfigurationError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigurationError';
  }
}

const DEFAULT_FILE = fileURLToPath(new URL('default.json', import.meta.url));

/**
 * Reads config/default.json, lays CONFIG_FILE over it (a JSON merge patch, RFC 7396: objects merge, null removes, all else
 * replaces; so a whole copy of the default works, and a few lines do too), then the environment's overrides. Paths inside
 * a file are relative to it.
 */
export function loadConfiguration(env: NodeJS.ProcessEnv): Configuration {
  const defaults = resolvePaths(readJson(DEFAULT_FILE), DEFAULT_FILE);
  const file = env.CONFIG_FILE?.trim();
  const merged = file ? mergePatch(defaults, resolvePaths(readJson(file), file)) : defaults;
  const parsed = v.safeParse(configurationFile, withOverrides(merged, env));
  const source = file || 'config/default.json';
  if (!parsed.success) throw new ConfigurationError(describeIssues(parsed.issues).map((line) => `${source}: ${line}`));
  const problems = checkReferences(parsed.output);
  if (problems.length > 0) throw new ConfigurationError(problems.map((line) => `${source}: ${line}`));
  return build(parsed.output);
}

/**
 * Reviews are configured, stored and shown as a requirement, but nothing decides one yet: a process that accepts
 * transfers refuses to start with them, so that none waits for ever.
 */
export function refuseReviews({ compliance }: Configuration): void {
  for (const direction of ['incoming', 'outgoing'] as const) {
    const { rule, byCurrency } = compliance[direction];
    const reviewed = [rule, ...Object.values(byCurrency)].find((mode) => mode !== 'none');
    if (reviewed === undefined) continue;
    const name = `COMPLIANCE_${direction.toUpperCase()}`;
    throw new ConfigurationError([`${name} must be none: this version cannot decide reviews yet (is "${reviewed}")`]);
  }
}

function build(file: ConfigurationFile): Configuration {
  const holidayTable = readHolidays(file.calendars.gb);
  const schemes = new Schemes({
    rules: Object.fromEntries(Object.entries(file.schemes).map(([code, rule]) => [code, schemeRule(rule)])),
    calendars: createCalendars(holidayTable),
    calendarByCurrency: file.calendarByCurrency,
  });
  return {
    ...file,
    schemes,
    holidayTable,
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
    authorization: {
      rule: authorizationRule(file.authorization.rule),
      byCurrency: Object.fromEntries(
        Object.entries(file.authorization.byCurrency).map(([currency, rule]) => [currency, authorizationRule(rule)]),
      ),
    },
  };
}

function schemeRule(rule: ConfigurationFile['schemes'][string]): SchemeRule {
  const limits = Object.entries(rule.amountLimits).map(
    ([currency, text]) => [currency, minor(text, currency)] as const,
  );
  return {
    zone: rule.zone,
    currencies: rule.currencies ?? null,
    destinationCountries: rule.destinationCountries ?? null,
    cutOff: rule.cutOff,
    cutOffByCurrency: rule.cutOffByCurrency,
    opensAt: rule.opensAt,
    calendars: rule.calendars,
    amountLimitsMinor: Object.fromEntries(limits),
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

// The two below cannot fail here: the schema and checkReferences have passed the texts.
function authorizationRule(text: string): AuthorizationRule {
  return parseAuthorizationRule(text) ?? 'always';
}

function minor(text: string, currency: string): bigint {
  const amount = parseAmountMinor(text, currency, { positive: false });
  if (typeof amount !== 'bigint') throw new ConfigurationError([`${text} ${currency} is no amount: ${amount}`]);
  return amount;
}

function readHolidays(path: string): HolidayTable {
  const parsed = v.safeParse(bankHolidaysFile, readJson(path));
  if (!parsed.success) throw new ConfigurationError(describeIssues(parsed.issues).map((line) => `${path}: ${line}`));
  return createHolidayTable(parsed.output['england-and-wales'].events.map((event) => event.date));
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

type Json = Readonly<Record<string, unknown>>;

function readJson(path: string): Json {
  const text = readFile(path);
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch (error) {
    throw new ConfigurationError([`${path} is not JSON: ${reason(error)}`]);
  }
  throw new ConfigurationError([`${path} must hold a JSON object`]);
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigurationError([`${path} cannot be read: ${reason(error)}`]);
  }
}

function reason(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ');
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null && NULL_REMOVES_NOT.has(key)) merged[key] = null;
    else if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

/** Settings for which null is a value of its own. */
const NULL_REMOVES_NOT = new Set(['cutOff', 'opensAt', 'bank', 'requestsPerSecond', 'modulusCheck']);

/** Paths inside a file are relative to it. */
function resolvePaths(file: Json, path: string): Json {
  const absolute = (section: unknown, names: readonly string[]): unknown => {
    if (!isObject(section)) return section;
    const paths = names.flatMap((name) => {
      const value = section[name];
      return typeof value === 'string' ? [[name, resolve(dirname(path), value)] as const] : [];
    });
    return { ...section, ...Object.fromEntries(paths) };
  };
  return {
    ...file,
    ...('calendars' in file ? { calendars: absolute(file.calendars, ['gb']) } : {}),
    ...('modulusCheck' in file
      ? { modulusCheck: absolute(file.modulusCheck, ['weightsFile', 'substitutionsFile']) }
      : {}),
  };
}

/** `COMPLIANCE_INCOMING`, `COMPLIANCE_OUTGOING` and `AUTHORIZATION_RULE` win over the file's general rule. */
function withOverrides(file: unknown, env: NodeJS.ProcessEnv): unknown {
  const patch: Record<string, unknown> = {};
  const compliance: Record<string, unknown> = {};
  for (const direction of ['incoming', 'outgoing'] as const) {
    const name = `COMPLIANCE_${direction.toUpperCase()}`;
    const mode = env[name]?.trim();
    if (!mode) continue;
    if (!COMPLIANCE_MODES.some((known) => known === mode)) {
      throw new ConfigurationError([`${name} must be one of ${COMPLIANCE_MODES.join(', ')} (is "${mode}")`]);
    }
    compliance[direction] = { mode };
  }
  if (Object.keys(compliance).length > 0) patch.compliance = compliance;
  const rule = env.AUTHORIZATION_RULE?.trim();
  if (rule) {
    if (parseAuthorizationRule(rule) === null) {
      throw new ConfigurationError([
        `AUTHORIZATION_RULE must be never, always or an amount such as 1000 (is "${rule}")`,
      ]);
    }
    patch.authorization = { rule };
  }
  return mergePatch(file, patch);
}
