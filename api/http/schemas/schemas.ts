import * as v from 'valibot';
import { asId, type Id, isUuid } from '../../../domain/common/ids.ts';
import { type AmountProblem, type Currency, isCurrency, parseAmountMinor } from '../../../domain/common/money.ts';
import { type Country, isCountry } from '../../../domain/common/parties/countries.ts';
import { checkText } from '../../../domain/common/parties/names.ts';
import { isDate, type LocalDate, parseDateTime } from '../../../domain/common/time/dates.ts';
import { isJsonNumber, type JsonNumber } from '../requests/json.ts';

/**
 * The building blocks of contracts, for requests and answers alike. Each carries its JSON Schema for the OpenAPI
 * document. Never use bare v.object, v.number or v.string in a contract: `fields`, `integer`/`amount` and `text`
 * handle unknown keys, exact digits and forbidden characters.
 */
export type Schema<Input = unknown, Output = Input> = v.GenericSchema<Input, Output>;

/** Digits of a JSON number that passed `amount()`; `parseAmountMinor` reads them once the currency is known. */
export type AmountDigits = string;

export interface JsonSchemaHint {
  readonly [keyword: string]: unknown;
}

/** A hint for the OpenAPI document that the schema itself cannot express. */
export function hint<Input>(jsonSchema: JsonSchemaHint) {
  return v.metadata<Input, JsonSchemaHint>(jsonSchema);
}

const LIMIT_EXCEEDED = 'common.validation.limit_exceeded: ';
type Run<Entries extends v.ObjectEntries> = v.StrictObjectSchema<Entries, undefined>['~run'];

/**
 * An object of exactly these fields. Unlike v.strictObject it reports every unknown field, not only the first; unlike v.objectWithRest it
 * rejects a list and a number of the body, without a pipe, which would hide the `entries` that other code reads.
 */
export function fields<const Entries extends v.ObjectEntries>(
  entries: Entries,
): v.StrictObjectSchema<Entries, undefined> {
  const known = v.object(entries);
  const run: Run<Entries> = (dataset, config) => {
    const input = dataset.value;
    if (!isPlainObject(input)) {
      return { typed: false, value: input, issues: [newIssue(input, 'must be an object')] };
    }
    const result = known['~run']({ value: input }, config);
    const unknownKeys = Object.keys(input).filter((key) => !Object.hasOwn(entries, key));
    if (unknownKeys.length === 0) return result as ReturnType<Run<Entries>>;
    const issues = unknownKeys.map((key) => newIssue(input[key], 'is not a field of this request', key, input));
    return { ...result, typed: false, issues: [...(result.issues ?? []), ...issues] } as ReturnType<Run<Entries>>;
  };
  return { ...v.strictObject(entries), '~run': run };
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isJsonNumber(value);
}

// `expected: 'never'` is how valibot marks an unknown key.
function newIssue(input: unknown, message: string, key?: string, parent?: Record<string, unknown>) {
  const issue: v.StrictObjectIssue = {
    kind: 'schema',
    type: 'strict_object',
    input,
    expected: key === undefined ? 'Object' : 'never',
    received: input === null ? 'null' : typeof input,
    message,
  };
  if (key === undefined || parent === undefined) return issue;
  return {
    ...issue,
    path: [{ type: 'object' as const, origin: 'key' as const, input: parent, key, value: input }] as [v.IssuePathItem],
  };
}

type MoneyFields<Entries extends v.ObjectEntries> = v.GenericSchema<
  v.InferInput<v.StrictObjectSchema<Entries, undefined>>,
  v.InferOutput<v.StrictObjectSchema<Entries, undefined>> & { readonly amountMinor: bigint }
>;

const AMOUNT_MESSAGES: Readonly<Record<AmountProblem, string>> = {
  'not-a-number': 'must be a number',
  'too-many-decimals': 'has more decimals than its currency',
  'too-large': 'must be below 10^15 in minor units of its currency',
  'not-positive': 'must be greater than zero',
};

/** As `fields`, but checks `amount` against the decimals of `currency` and adds `amountMinor` to the result. */
export function moneyFields<
  const Entries extends v.ObjectEntries & {
    amount: Schema<JsonNumber, AmountDigits>;
    currency: Schema<string, Currency>;
  },
>(entries: Entries): MoneyFields<Entries> {
  const plain = fields(entries);
  const run: MoneyFields<Entries>['~run'] = (dataset, config) => {
    const result = plain['~run'](dataset as v.UnknownDataset, config);
    if (!isPlainObject(result.value)) return result as ReturnType<MoneyFields<Entries>['~run']>;
    const { amount: digits, currency: code } = result.value;
    const sent = isPlainObject(dataset.value) ? dataset.value.amount : undefined;
    if (typeof digits !== 'string' || !isJsonNumber(sent) || typeof code !== 'string' || !isCurrency(code)) {
      return result as ReturnType<MoneyFields<Entries>['~run']>;
    }
    const amountMinor = parseAmountMinor(digits, code);
    if (typeof amountMinor === 'bigint') {
      return { ...result, value: { ...result.value, amountMinor } } as ReturnType<MoneyFields<Entries>['~run']>;
    }
    const issue = newIssue(sent, AMOUNT_MESSAGES[amountMinor], 'amount', result.value);
    return {
      ...result,
      typed: false,
      issues: [...(result.issues ?? []), { ...issue, expected: 'amount' }],
    } as ReturnType<MoneyFields<Entries>['~run']>;
  };
  return { ...plain, '~run': run } as unknown as MoneyFields<Entries>;
}

/** A JSON number kept as digits; zero and negative pass here, `moneyFields` checks the rest. */
export function amount() {
  return v.pipe(
    v.custom<JsonNumber>(isJsonNumber, 'must be a number'),
    hint<JsonNumber>({ type: 'number' }),
    v.transform((number): AmountDigits => number.value),
  );
}

/** A whole number of a body. Answers may give it as a `number`. */
export function integer(minimum: number, maximum: number) {
  return v.pipe(
    v.custom<JsonNumber | number>(
      (value) => (isJsonNumber(value) || typeof value === 'number') && /^-?\d{1,15}$/.test(value.toString()),
      'must be a whole number',
    ),
    hint<JsonNumber | number>({ type: 'integer', minimum, maximum }),
    v.transform((value) => Number(value.toString())),
    v.minValue(minimum, `must be at least ${minimum}`),
    v.maxValue(maximum, `must be at most ${maximum}`),
  );
}

export function boolean() {
  return v.boolean('must be true or false');
}

/** A UUID in either case, parsed to lower case. `uuid<ClientId>()`. */
export function uuid<Branded extends Id<string>>() {
  return v.pipe(
    v.string('must be a UUID'),
    v.check((text) => isUuid(text.toLowerCase()), 'must be a UUID'),
    hint<string>({ format: 'uuid' }),
    v.transform((text) => asId<Branded>(text.toLowerCase())),
  );
}

// The rule of domain/common/parties/names.ts as a portable pattern, which cannot express all of it.
export const TEXT_PATTERN =
  '^[^\\u0000-\\u001F\\u007F-\\u009F\\u061C\\u200B\\u200E\\u200F\\u2028-\\u202E\\u2060-\\u206F\\uFEFF]+$';
const YEAR = '(19|[2-9]\\d)\\d{2}';

/** Free text of 1 to `lengthMax` characters in Unicode's composed form. `code`, followed by `: `, is the error code for rejected text. */
export function text(lengthMax: number, code = '') {
  return v.pipe(
    v.string('must be text'),
    hint<string>({ $ref: '#/components/schemas/Text', maxLength: lengthMax }),
    v.rawTransform<string, string>(({ dataset, addIssue, NEVER }) => {
      const checked = checkText(dataset.value, lengthMax);
      if (typeof checked !== 'string') return checked.value;
      addIssue({ message: code + textMessage(checked, lengthMax) });
      return NEVER;
    }),
  );
}

function textMessage(problem: string, lengthMax: number): string {
  if (problem === 'empty') return 'must not be blank';
  if (problem === 'too-long') return `must have at most ${lengthMax} characters`;
  return `must not have a ${problem.replaceAll('-', ' ')}`;
}

/** Text that matches a pattern, for codes and numbers; `what` completes "must be …". */
export function pattern(expression: RegExp, what: string) {
  return v.pipe(v.string(`must be ${what}`), v.regex(expression, `must be ${what}`));
}

export function picklist<const Options extends readonly [string, ...string[]] | readonly string[]>(options: Options) {
  return v.picklist(options, `must be one of ${options.join(', ')}`);
}

/** `YYYY-MM-DD` of the calendar. */
export function date() {
  return v.pipe(
    v.string('must be a date'),
    v.check(isDate, 'must be a calendar date, as YYYY-MM-DD'),
    hint<string>({ title: 'CalendarDate', format: 'date', pattern: `^${YEAR}-` }),
    v.transform((value): LocalDate => value),
  );
}

/** `YYYY-MM-DDThh:mm:ss` in UTC with up to three decimals, parsed to a `Date`. */
export function dateTime() {
  return v.pipe(
    v.string('must be a date-time'),
    hint<string>({
      title: 'DateTime',
      description: 'UTC without a zone: 2026-11-26T09:30:00.123 is half past nine in UTC, with up to three decimals',
      pattern: `^${YEAR}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,3})?$`,
    }),
    v.rawTransform<string, Date>(({ dataset, addIssue, NEVER }) => {
      const instant = parseDateTime(dataset.value);
      if (instant !== null) return instant;
      addIssue({ message: 'must be a valid date-time, as YYYY-MM-DDThh:mm:ss' });
      return NEVER;
    }),
  );
}

/** An active ISO 4217 code. */
export function currency() {
  return v.pipe(
    v.string('must be a currency'),
    v.check(isCurrency, 'must be an active ISO 4217 currency code'),
    hint<string>({ $ref: '#/components/schemas/Currency' }),
    v.transform((code) => code as Currency),
  );
}

/** An ISO 3166-1 alpha-2 code. */
export function country() {
  return v.pipe(
    v.string('must be a country'),
    v.check(isCountry, 'must be an ISO 3166-1 alpha-2 country code'),
    hint<string>({ $ref: '#/components/schemas/Country' }),
    v.transform((code) => code as Country),
  );
}

export function list<const Item extends Schema<unknown, unknown>>(item: Item, lengthMin: number, lengthMax: number) {
  return v.pipe(
    v.array(item, 'must be a list'),
    v.minLength(lengthMin, `${LIMIT_EXCEEDED}must have at least ${lengthMin} items`),
    v.maxLength(lengthMax, `${LIMIT_EXCEEDED}must have at most ${lengthMax} items`),
  );
}

/** A map from names to values, such as routing codes. */
export function map<const Value extends Schema>(key: RegExp, value: Value, sizeMax: number, sizeMin = 0) {
  const record = v.record(v.pipe(v.string(), v.regex(key, 'is not a key of this map')), value, 'must be an object');
  const run: (typeof record)['~run'] = (dataset, config) => {
    if (isPlainObject(dataset.value)) return record['~run'](dataset, config);
    const issue = {
      ...newIssue(dataset.value, 'must be an object'),
      type: 'record' as const,
      expected: 'Object' as const,
    };
    return { typed: false, value: dataset.value, issues: [issue] };
  };
  return v.pipe(
    { ...record, '~run': run },
    hint<v.InferOutput<typeof record>>({ minProperties: sizeMin, maxProperties: sizeMax }),
    v.check(
      (entries) => Object.keys(entries).length >= sizeMin && Object.keys(entries).length <= sizeMax,
      `${LIMIT_EXCEEDED}must have ${sizeMin === 0 ? 'at most' : `${sizeMin} to`} ${sizeMax} entries`,
    ),
  );
}

/** An optional field. On POST null counts as omitted. */
export function optional<const Wrapped extends Schema<unknown, unknown>>(wrapped: Wrapped) {
  return v.optional(wrapped);
}

/** A field that null clears in a PATCH. A plain `optional(…)` rejects null there with field_required. */
export function clearable<const Wrapped extends Schema<unknown, unknown>>(wrapped: Wrapped) {
  return v.optional(v.nullable(wrapped));
}

/** A field of an answer that is null if it has no value. */
export function nullable<const Wrapped extends Schema<unknown, unknown>>(wrapped: Wrapped) {
  return v.nullable(wrapped);
}

/** A field that still works but is marked deprecated in the document. */
export function deprecated<const Field extends Schema<unknown, unknown>>(field: Field) {
  return v.pipe(field, hint<v.InferOutput<Field>>({ deprecated: true }));
}

/** For query parameters, which are text. */
export function booleanText() {
  return v.pipe(
    v.picklist(['true', 'false'], 'must be true or false'),
    v.transform((value) => value === 'true'),
  );
}

/** A decimal number in a query, for bounds such as amountFrom, with at most 15 whole and 4 decimal digits. */
export function amountText() {
  return v.pipe(
    v.string(),
    v.regex(/^-?(0|[1-9]\d{0,14})(\.\d{1,4})?$/, 'must be a number'),
    v.transform((value): AmountDigits => value),
  );
}
