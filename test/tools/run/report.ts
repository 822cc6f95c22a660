import * as v from 'valibot';

const FileReport = v.object({
  path: v.string(),
  seconds: v.number(),
  passed: v.number(),
  /** In words, as they were printed. */
  failures: v.array(v.string()),
  /** Whether each of them is a wait that ran out. */
  onlyWaited: v.boolean(),
});

/** What a run of vitest leaves for the command that started it. */
export const RunReport = v.object({
  files: v.array(FileReport),
  /** What failed outside of all files. */
  others: v.array(v.string()),
});

export type FileReport = v.InferOutput<typeof FileReport>;
export type RunReport = v.InferOutput<typeof RunReport>;
