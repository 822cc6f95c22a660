import { describe, expect, test } from 'vitest';
import type { ApiResponse, Json } from '../api.ts';

/** A resource type whose fields are tested one by one. */
export interface Resource {
  /** Prefix of field names in problems: `client`, or `client.relations.0`. */
  readonly label: string;
  /** The smallest valid object. */
  readonly least: () => Json;
  /** By an object's path: the fields required along with the tested one. */
  readonly alsoRequired: Readonly<Record<string, Json>>;
  readonly post: (sent: Json) => Promise<ApiResponse>;
  readonly shown: (answer: ApiResponse) => Json;
  /** The PATCH path; without it, rules are tested on POST only. */
  readonly patch?: (made: Json, change: Json) => Promise<ApiResponse>;
  readonly read?: (made: Json) => Promise<ApiResponse>;
}

/** One field and its rules in the specification. */
export interface FieldRule {
  readonly rule: string;
  readonly path: string;
  readonly need: 'required' | 'optional' | 'read-only';
  readonly takes?: readonly Taken[];
  readonly rejects?: readonly Rejected[];
  /** How an optional field without a value is shown. */
  readonly absent?: unknown;
  /** Other fields that change with this one. */
  readonly moves?: readonly string[];
  /** A field that only POST can set. */
  readonly only?: 'POST' | 'PATCH';
}

export interface Taken {
  readonly sent: unknown;
  readonly shown: unknown;
}

export interface Rejected {
  readonly sent: unknown;
  readonly code: string;
  /** The part of the field that the problem names. */
  readonly at: string;
}

/** Values that are shown as they were sent. */
export function same(...values: unknown[]): Taken[] {
  return values.map((value) => ({ sent: value, shown: value }));
}

export function shownAs(sent: unknown, shown: unknown): Taken {
  return { sent, shown };
}

export function invalid(...values: unknown[]): Rejected[] {
  return values.map((sent) => ({ sent, code: 'field_invalid', at: '' }));
}

export function rejected(sent: unknown, code: string, at = ''): Rejected {
  return { sent, code, at };
}

/** One test per accepted and per rejected value, by POST and, if available, by PATCH. */
export function fieldRules(resource: Resource, rules: readonly FieldRule[]): void {
  describe('POST', () =>
    tryPost(
      resource,
      rules.filter(({ only }) => only !== 'PATCH'),
    ));
  if (resource.patch === undefined) return;
  describe('PATCH', () =>
    tryPatch(
      resource,
      rules.filter(({ only }) => only !== 'POST'),
    ));
}

function tryPost(resource: Resource, rules: readonly FieldRule[]): void {
  test.each(takenRows(rules))('%s', async (_, rule, { sent, shown }) => {
    const answer = await resource.post(withField(resource, resource.least(), rule.path, sent));
    expect(answer.status, answer.text).toBe(201);
    await isShown(resource, answer, rule.path, shown);
  });

  test.each(rejectedRows(rules))('%s', async (_, rule, rejection) => {
    await isRejected(
      resource,
      rule,
      rejection,
      await resource.post(withField(resource, resource.least(), rule.path, rejection.sent)),
    );
  });

  const required = rules.filter(({ need }) => need === 'required');
  test.each(named(required, 'is required'))('%s', async (_, rule) => {
    for (const nothing of [undefined, null]) {
      const answer = await resource.post(withField(resource, resource.least(), rule.path, nothing));
      await isRejected(resource, rule, rejected(nothing, 'field_required'), answer);
    }
  });

  const optional = rules.filter(({ need }) => need === 'optional');
  test.each(named(optional, 'may be left out'))('%s', async (_, rule) => {
    for (const nothing of [undefined, null]) {
      const answer = await resource.post(withField(resource, resource.least(), rule.path, nothing));
      expect(answer.status, answer.text).toBe(201);
      await isShown(resource, answer, rule.path, absentOf(rule));
    }
  });
}

function tryPatch(resource: Resource, rules: readonly FieldRule[]): void {
  const made = async (): Promise<Json> => {
    const answer = await resource.post(resource.least());
    expect(answer.status, answer.text).toBe(201);
    return resource.shown(answer);
  };
  const change = async (before: Json, path: string, value: unknown): Promise<ApiResponse> => {
    if (resource.patch === undefined) throw new Error(`${resource.label} is not changed`);
    return resource.patch(before, withField(resource, {}, path, value));
  };

  test.each(takenRows(rules))('%s', async (_, rule, { sent, shown }) => {
    const before = await made();
    const answer = await change(before, rule.path, sent);
    expect(answer.status, answer.text).toBe(200);
    await isShown(resource, answer, rule.path, shown);
    expect(changedElsewhere(before, resource.shown(answer), [rule.path, ...(rule.moves ?? [])])).toEqual([]);
  });

  test.each(rejectedRows(rules))('%s', async (_, rule, rejection) => {
    const before = await made();
    await isRejected(resource, rule, rejection, await change(before, rule.path, rejection.sent));
    if (resource.read !== undefined) expect(resource.shown(await resource.read(before))).toEqual(before);
  });

  const required = rules.filter(({ need }) => need === 'required');
  test.each(named(required, 'cannot be cleared'))('%s', async (_, rule) => {
    await isRejected(resource, rule, rejected(null, 'field_required'), await change(await made(), rule.path, null));
  });

  const optional = rules.filter(({ need }) => need === 'optional');
  test.each(named(optional, 'is cleared by null'))('%s', async (_, rule) => {
    let before = await made();
    const [some] = rule.takes ?? [];
    if (some !== undefined) before = resource.shown(await change(before, rule.path, some.sent));
    const answer = await change(before, rule.path, null);
    expect(answer.status, answer.text).toBe(200);
    await isShown(resource, answer, rule.path, absentOf(rule));
  });
}

function takenRows(rules: readonly FieldRule[]): [string, FieldRule, Taken][] {
  return rules.flatMap((rule) =>
    (rule.takes ?? []).map((taken): [string, FieldRule, Taken] => [
      `${nameOf(rule)} takes ${shorten(taken.sent)}`,
      rule,
      taken,
    ]),
  );
}

function rejectedRows(rules: readonly FieldRule[]): [string, FieldRule, Rejected][] {
  return rules.flatMap((rule) =>
    (rule.rejects ?? []).map((rejection): [string, FieldRule, Rejected] => [
      `${nameOf(rule)} rejects ${shorten(rejection.sent)}`,
      rule,
      rejection,
    ]),
  );
}

function named(rules: readonly FieldRule[], what: string): [string, FieldRule][] {
  return rules.map((rule) => [`${nameOf(rule)} ${what}`, rule]);
}

function nameOf({ rule, path }: FieldRule): string {
  return `${rule}: ${path}`;
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 70 ? `${text.slice(0, 60)}… (${text.length})` : text;
}

function absentOf(rule: FieldRule): unknown {
  return 'absent' in rule ? rule.absent : null;
}

async function isShown(resource: Resource, answer: ApiResponse, path: string, shown: unknown): Promise<void> {
  const made = resource.shown(answer);
  expect(valueAt(made, path)).toEqual(shown);
  if (resource.read !== undefined) expect(resource.shown(await resource.read(made))).toEqual(made);
}

/** 400, and one of the problems names the field with the code. */
async function isRejected(
  resource: Resource,
  rule: FieldRule,
  { code, at }: Rejected,
  answer: ApiResponse,
): Promise<void> {
  expect(answer.status, answer.text).toBe(400);
  const wanted = `common.validation.${code} ${resource.label}.${rule.path}${at === '' ? '' : `.${at}`}`;
  expect(problemsOf(answer)).toContain(wanted);
}

/** Code and field of every problem of a rejected request. */
export function problemsOf({ body }: ApiResponse): string[] {
  return [body, ...(body.errors ?? [])].map(
    ({ code, messageParameters: [entity, field] }: Json) => `${code} ${entity}.${field}`,
  );
}

/** Matches the expectation: `{}` and `[]` are empty, `undefined` is absent, other objects may have more fields. */
export function expectShown(actual: Json, wanted: Json, place = 'body'): void {
  if (typeof wanted !== 'object' || wanted === null) {
    expect(actual, place).toEqual(wanted);
    return;
  }
  const names = Object.keys(wanted);
  if (names.length === 0 || Array.isArray(wanted)) expect(Object.keys(actual ?? {}), place).toEqual(names);
  for (const name of names) expectShown(actual?.[name], wanted[name], `${place}.${name}`);
}

/** The object with a value set at a path, plus required neighbours; `undefined` removes the field. */
function withField({ alsoRequired }: Resource, base: Json, path: string, value: unknown): Json {
  const keys = path.split('.');
  const whole = structuredClone(base);
  keys.reduce((parent: Json, key, index) => {
    const here = keys.slice(0, index + 1).join('.');
    if (index === keys.length - 1) {
      if (value === undefined) delete parent[key];
      else parent[key] = value;
    } else if (parent[key] === undefined) {
      parent[key] = structuredClone(alsoRequired[here] ?? {});
    }
    return parent[key];
  }, whole);
  return whole;
}

function valueAt(whole: Json, path: string): unknown {
  return path.split('.').reduce((parent: Json, key) => parent?.[key], whole);
}

/** Paths whose values differ, except those that may. */
function changedElsewhere(before: Json, after: Json, allowed: readonly string[]): string[] {
  const [old, young] = [leaves(before), leaves(after)];
  const paths = new Set([...old.keys(), ...young.keys()]);
  return [...paths].filter(
    (path) =>
      old.get(path) !== young.get(path) && !allowed.some((prefix) => path === prefix || path.startsWith(`${prefix}.`)),
  );
}

function leaves(value: Json, path = ''): Map<string, unknown> {
  if (typeof value !== 'object' || value === null) return new Map([[path, value]]);
  const inner = Object.entries<Json>(value).flatMap(([key, item]) => [
    ...leaves(item, path === '' ? key : `${path}.${key}`),
  ]);
  return new Map(inner);
}
