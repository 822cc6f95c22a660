/** What one scrape of every process showed, as Prometheus stores it. */
export interface Scrape {
  readonly at: number;
  readonly series: readonly Series[];
}

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads an answer of `/metrics`. As Prometheus does, it gives each series its name and instance as labels. */
export function parseMetrics(text: string, instance: string): Series[] {
  return text.split('\n').flatMap((line) => {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (line.startsWith('#') || match === null) return [];
    const [, name = '', labels = '', value = ''] = match;
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [key, text]);
    return [
      {
        labels: { ...Object.fromEntries(pairs), __name__: name, instance },
        value: Number(value.replace('+Inf', 'Infinity')),
      },
    ];
  });
}

type Value = number | readonly Series[];

/**
 * Evaluates the part of PromQL that deploy/prometheus/alerts.yml uses, by Prometheus' rules, over scrapes in order; anything else throws. A range
 * reaches over all scrapes given, so they must be within it.
 */
export function evaluate(expression: string, scrapes: readonly Scrape[], time: number): readonly Series[] {
  const parser = new Parser(expression, scrapes, time);
  const value = parser.or();
  parser.end();
  if (typeof value === 'number') throw new Error(`an alert is a vector, not a number: ${expression}`);
  return value;
}

const TOKEN = /\s*(\d+(?:\.\d+)?|[a-zA-Z_][\w:]*|"[^"]*"|=~|[<>=!]=|[-+*/<>=(){}[\],])/y;
const RANGE_FUNCTIONS: Readonly<Record<string, (values: readonly number[]) => number>> = {
  // A counter that falls was reset to 0.
  increase: (values) =>
    values
      .slice(1)
      .reduce((sum, value, index) => sum + (value < (values[index] ?? 0) ? value : value - (values[index] ?? 0)), 0),
  delta: (values) => (values.at(-1) ?? 0) - (values[0] ?? 0),
  max_over_time: (values) => Math.max(...values),
};
const AGGREGATIONS: Readonly<Record<string, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
};
const ARITHMETIC: Readonly<Record<string, (one: number, other: number) => number>> = {
  '+': (one, other) => one + other,
  '-': (one, other) => one - other,
  '*': (one, other) => one * other,
  '/': (one, other) => one / other,
};
const COMPARISONS: Readonly<Record<string, (one: number, other: number) => boolean>> = {
  '>': (one, other) => one > other,
  '<': (one, other) => one < other,
  '==': (one, other) => one === other,
};

class Parser {
  readonly #tokens: string[] = [];
  readonly #scrapes: readonly Scrape[];
  readonly #time: number;
  #at = 0;

  constructor(expression: string, scrapes: readonly Scrape[], time: number) {
    this.#scrapes = scrapes;
    this.#time = time;
    TOKEN.lastIndex = 0;
    const text = expression.trim();
    for (let end = 0; end < text.length; end = TOKEN.lastIndex) {
      const [, token] = TOKEN.exec(text) ?? [];
      if (token === undefined) throw new Error(`not understood from "${text.slice(end)}"`);
      this.#tokens.push(token);
    }
  }

  end(): void {
    if (this.#at < this.#tokens.length)
      throw new Error(`not understood from "${this.#tokens.slice(this.#at).join(' ')}"`);
  }

  or(): Value {
    let value = this.#comparison();
    while (this.#take('or')) {
      const [left, right] = [vector(value), vector(this.#comparison())];
      const known = new Set(left.map(keyOf));
      value = [...left, ...right.filter((series) => !known.has(keyOf(series)))];
    }
    return value;
  }

  #comparison(): Value {
    const left = this.#sum();
    const operator = this.#peek();
    const compare = Object.hasOwn(COMPARISONS, operator) ? COMPARISONS[operator] : undefined;
    if (compare === undefined) return left;
    this.#at += 1;
    const right = this.#sum();
    if (typeof right !== 'number') throw new Error('a comparison is with a number');
    return vector(left).filter(({ value }) => compare(value, right));
  }

  #sum(): Value {
    return this.#binary(['+', '-'], () => this.#product());
  }

  #product(): Value {
    return this.#binary(['*', '/'], () => this.#primary());
  }

  #binary(operators: readonly string[], operand: () => Value): Value {
    let left = operand();
    for (let operator = this.#peek(); operators.includes(operator); operator = this.#peek()) {
      this.#at += 1;
      const calculate = ARITHMETIC[operator];
      if (calculate === undefined) throw new Error(`${operator} is not known`);
      left = combine(left, operand(), calculate);
    }
    return left;
  }

  #primary(): Value {
    const token = this.#next();
    if (token === '(') {
      const value = this.or();
      this.#expect(')');
      return value;
    }
    if (/^\d/.test(token)) return Number(token);
    if (Object.hasOwn(AGGREGATIONS, token)) return this.#aggregation(token);
    if (this.#peek() !== '(') return this.#instant(token);
    this.#at += 1;
    const value = this.#call(token);
    this.#expect(')');
    return value;
  }

  #call(name: string): Value {
    if (name === 'time') return this.#time;
    if (name === 'vector') {
      const value = this.or();
      if (typeof value !== 'number') throw new Error('vector() takes a number');
      return [{ labels: {}, value }];
    }
    const summary = Object.hasOwn(RANGE_FUNCTIONS, name) ? RANGE_FUNCTIONS[name] : undefined;
    if (summary === undefined) throw new Error(`${name}() is not known`);
    const matches = this.#selector(this.#next());
    this.#expect('[');
    const length = durationOf(this.#next(), this.#next());
    this.#expect(']');
    const from = this.#time - length;
    const samples = new Map<string, { labels: Series['labels']; values: number[] }>();
    for (const { at, series } of this.#scrapes) {
      for (const one of series.filter((candidate) => at >= from && matches(candidate.labels))) {
        const found = samples.get(keyOf(one)) ?? { labels: one.labels, values: [] };
        found.values.push(one.value);
        samples.set(keyOf(one), found);
      }
    }
    // An increase needs two samples: a series that has just appeared has none.
    const enough = name === 'max_over_time' ? 1 : 2;
    return [...samples.values()]
      .filter(({ values }) => values.length >= enough)
      .map(({ labels, values }) => ({ labels: unnamed(labels), value: summary(values) }));
  }

  #aggregation(name: string): Value {
    const labels = this.#take('by') ? this.#labels() : [];
    this.#expect('(');
    const given = vector(this.or());
    this.#expect(')');
    const groups = new Map<string, { labels: Series['labels']; values: number[] }>();
    for (const series of given) {
      const kept = Object.fromEntries(
        labels.flatMap((label) => (label in series.labels ? [[label, series.labels[label] ?? '']] : [])),
      );
      const key = JSON.stringify(kept);
      const group = groups.get(key) ?? { labels: kept, values: [] };
      group.values.push(series.value);
      groups.set(key, group);
    }
    const aggregate = AGGREGATIONS[name];
    if (aggregate === undefined) throw new Error(`${name} is not known`);
    return [...groups.values()].map((group) => ({ labels: group.labels, value: aggregate(group.values) }));
  }

  #labels(): string[] {
    this.#expect('(');
    const labels: string[] = [];
    do labels.push(this.#next());
    while (this.#take(','));
    this.#expect(')');
    return labels;
  }

  #instant(name: string): Value {
    const matches = this.#selector(name);
    return (this.#scrapes.at(-1)?.series ?? []).filter(({ labels }) => matches(labels));
  }

  #selector(name: string): (labels: Series['labels']) => boolean {
    const conditions: ((labels: Series['labels']) => boolean)[] = [(labels) => labels.__name__ === name];
    if (this.#take('{')) {
      do {
        const label = this.#next();
        const operator = this.#next();
        const text = this.#next().slice(1, -1);
        if (operator !== '=' && operator !== '=~') throw new Error(`${operator} is not known in a selector`);
        const pattern = new RegExp(`^(?:${text})$`);
        conditions.push((labels) =>
          operator === '=' ? (labels[label] ?? '') === text : pattern.test(labels[label] ?? ''),
        );
      } while (this.#take(','));
      this.#expect('}');
    }
    return (labels) => conditions.every((holds) => holds(labels));
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? '';
  }

  #next(): string {
    const token = this.#peek();
    if (token === '') throw new Error('the expression ends too early');
    this.#at += 1;
    return token;
  }

  #take(token: string): boolean {
    if (this.#peek() !== token) return false;
    this.#at += 1;
    return true;
  }

  #expect(token: string): void {
    if (!this.#take(token)) throw new Error(`"${token}" is expected, not "${this.#peek()}"`);
  }
}

const UNITS: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400 };

function durationOf(count: string, unit: string): number {
  const seconds = UNITS[unit];
  if (seconds === undefined) throw new Error(`${count}${unit} is no duration`);
  return Number(count) * seconds;
}

function vector(value: Value): readonly Series[] {
  if (typeof value === 'number') throw new Error('a number is given where a vector is needed');
  return value;
}

function unnamed({ __name__: _, ...labels }: Series['labels']): Series['labels'] {
  return labels;
}

function keyOf({ labels }: Series): string {
  return JSON.stringify(Object.entries(labels).sort());
}

/** Operators between vectors match series with the same labels. */
function combine(left: Value, right: Value, calculate: (one: number, other: number) => number): Value {
  if (typeof left === 'number') {
    if (typeof right === 'number') return calculate(left, right);
    return right.map(({ labels, value }) => ({ labels: unnamed(labels), value: calculate(left, value) }));
  }
  if (typeof right === 'number') {
    return left.map(({ labels, value }) => ({ labels: unnamed(labels), value: calculate(value, right) }));
  }
  return left.flatMap((one) => {
    const labels = unnamed(one.labels);
    const other = right.find(
      (candidate) => keyOf({ labels: unnamed(candidate.labels), value: 0 }) === keyOf({ labels, value: 0 }),
    );
    return other === undefined ? [] : [{ labels, value: calculate(one.value, other.value) }];
  });
}
