import { ActionableError } from './actionable-error.ts';

/** Answers are plain JSON; each step checks the fields that it uses. */
export type Json = { readonly [key: string]: Json | string | number | boolean | null | undefined };

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function object(from: Json, name: string): Json {
  const value: unknown = from[name];
  if (!isJson(value)) throw new ActionableError(`The answer has no ${name}.`);
  return value;
}

export function list(from: Json, name: string): readonly Json[] {
  const value: unknown = from[name];
  if (!Array.isArray(value)) throw new ActionableError(`The answer has no ${name}.`);
  return value.filter(isJson);
}

export function text(from: Json, ...path: readonly [string, ...string[]]): string {
  const value = path.reduce<unknown>((at, name) => (isJson(at) ? at[name] : undefined), from);
  if (typeof value !== 'string') throw new ActionableError(`The answer has no ${path.join('.')}.`);
  return value;
}
