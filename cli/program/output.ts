import { textTable } from '../common/text-table.ts';
import { type Progress, startProgress } from './progress.ts';

/** What a command prints. Data goes to standard output and nothing else does; all else goes to standard error, as JSON under `--json`. */
export interface Output {
  readonly isJson: boolean;
  /** The result: one JSON value under `--json`, lines for people otherwise. */
  show(value: unknown, lines: readonly string[] | (() => readonly string[])): void;
  /** A line of the result, as it is: JSON text under `--json`. */
  line(text: string): void;
  /** Rows under a header, in columns; the values under `--json`. */
  table(values: readonly Readonly<Record<string, unknown>>[], columns: readonly string[]): void;
  /** For the reader, not for the program that takes the result. */
  note(text: string): void;
  /** Anything that may take more than two seconds shows what is done and left. */
  progress(what: string, total?: number): Progress;
  /** Colours a text that goes to standard output; as it is where that is no terminal. */
  paint(style: Style, text: string): string;
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };

export interface Streams {
  readonly data: { readonly isTTY?: boolean; write(text: string): unknown };
  readonly errors: { readonly isTTY?: boolean; write(text: string): unknown };
}

export function createOutput(streams: Streams, wish: { isJson: boolean; hasColours: boolean }): Output {
  const { isJson, hasColours } = wish;
  const line = (text: string) => {
    streams.data.write(`${text}\n`);
  };
  const note = (text: string) => {
    streams.errors.write(`${isJson ? JSON.stringify({ note: text }) : text}\n`);
  };
  const show: Output['show'] = (value, lines) => {
    if (isJson) return line(JSON.stringify(value));
    for (const text of typeof lines === 'function' ? lines() : lines) line(text);
  };
  return {
    isJson,
    line,
    note,
    show,
    table: (values, columns) => show(values, () => (values.length === 0 ? [] : tableLines(values, columns))),
    progress: (what, total) => startProgress({ what, total, isJson, errors: streams.errors, note }),
    paint: (style, text) =>
      hasColours && streams.data.isTTY && !isJson ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text,
  };
}

/** Colours are for terminals, and for readers who have not said otherwise: https://no-color.org. */
export function wantsColours(environment: NodeJS.ProcessEnv, isSwitchedOff: boolean): boolean {
  return !isSwitchedOff && !environment.NO_COLOR && environment.TERM !== 'dumb';
}

function tableLines(values: readonly Readonly<Record<string, unknown>>[], columns: readonly string[]): string[] {
  const rows = values.map((value) => columns.map((column) => cellOf(value[column])));
  return textTable([columns, ...rows]).split('\n');
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** Others' texts cannot move the cursor or colour the terminal. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '\ufffd');
}
