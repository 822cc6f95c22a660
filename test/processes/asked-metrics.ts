/** What an expression of PromQL asks for. */
export interface Asked {
  readonly metric: string;
  /** Labels of its selector, and those by which the expression groups. */
  readonly labels: readonly string[];
}

/** Labels that Prometheus itself gives. */
const OF_PROMETHEUS = new Set(['job', 'namespace', 'instance']);
const WORDS = new Set(['and', 'or', 'unless', 'bool', 'by', 'on', 'without', 'ignoring', 'offset']);

/** The metrics of an expression, each with the labels of its selector and of every `by (…)` of the whole. */
export function askedBy(expression: string): Asked[] {
  // Strings may hold any sign.
  const bare = expression.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').replaceAll(/\[[^\]]*\]/g, '');
  const grouped = [...bare.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, list = '']) => namesIn(list));
  const ungrouped = bare.replaceAll(/\b(by|on|without|ignoring)\s*\([^)]*\)/g, ' ');
  return [...ungrouped.matchAll(/(?<![\w:$])([a-zA-Z_:][\w:]*)\s*(\{[^}]*\}|\()?/g)].flatMap(
    ([, metric = '', rest = '']) => {
      if (rest === '(' || WORDS.has(metric)) return [];
      const own = [...rest.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label);
      const labels = [...own, ...grouped].filter((label) => !OF_PROMETHEUS.has(label));
      return [{ metric, labels: [...new Set(labels)].sort() }];
    },
  );
}

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
